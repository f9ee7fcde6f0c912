"""A shopping cart."""

TAX = 0.19


class Cart:
    def __init__(self):
        self.items = []

    def add(self, name, price):
        self.items.append((name, price))

    def total(self):
        sum = 0
        for name, price in self.items:
            sum += price
        return sum


class Receipt:
    def __init__(self, cart):
        self.cart = cart

    def total(self):
        return self.cart.total()

    def lines(self):
        return [f"{name}: {price}" for name, price in self.cart.items]
