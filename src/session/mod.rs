//! Calls of a model in, live or stored; cards out.
