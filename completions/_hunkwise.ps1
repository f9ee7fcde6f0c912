
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'hunkwise' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'hunkwise'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'hunkwise' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('preview', 'preview', [CompletionResultType]::ParameterValue, 'Show tentative previews of a patch while it is being written; writes no file')
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Apply a patch, all of it or nothing')
            [CompletionResult]::new('write', 'write', [CompletionResultType]::ParameterValue, 'Create or overwrite one file')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Replace a text in one file')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Draw the diff cards of stored session logs; touches no file that the logs name')
            [CompletionResult]::new('undo', 'undo', [CompletionResultType]::ParameterValue, 'Take back edits that a session log records')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Draw a patch as it stands, a card for each file edit; looks at no file that it names')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two files or two folders')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Preview, apply and replay a built-in patch in a temporary folder')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write all of them into a folder')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON schema of an output, or the names of all schemas')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'hunkwise;preview' {
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'The least time between two previews, such as 500ms, 2s or 0')
            [CompletionResult]::new('--dialect', '--dialect', [CompletionResultType]::ParameterName, 'The patch format; without it the text tells')
            [CompletionResult]::new('--transport', '--transport', [CompletionResultType]::ParameterName, 'How the patch''s text arrives')
            [CompletionResult]::new('--encoding', '--encoding', [CompletionResultType]::ParameterName, 'The encoding of the files, as for apply')
            [CompletionResult]::new('--record', '--record', [CompletionResultType]::ParameterName, 'Write the stream with its times to this file, as a tape')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--acp-version', '--acp-version', [CompletionResultType]::ParameterName, 'The version of the protocol that --output acp speaks')
            [CompletionResult]::new('--match', '--match', [CompletionResultType]::ParameterName, 'The most lenient way of matching that may decide where a hunk goes; each allows all before it')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--text-patches', '--text-patches', [CompletionResultType]::ParameterName, 'Also preview patches of any dialect that stand in a model''s text, in its stream or as plain input: apply_patch envelopes, SEARCH/REPLACE blocks, and unified diffs in Markdown fences')
            [CompletionResult]::new('--fail-fast', '--fail-fast', [CompletionResultType]::ParameterName, 'End with status 1 as soon as something can''t fit the files; without it that is shown, and the status is 0')
            [CompletionResult]::new('--no-locate', '--no-locate', [CompletionResultType]::ParameterName, 'Look at no file: show only what the patch says, without line numbers')
            [CompletionResult]::new('--first-match', '--first-match', [CompletionResultType]::ParameterName, 'Where a hunk fits several places take the first, as Codex does, instead of refusing')
            [CompletionResult]::new('--skip-applied', '--skip-applied', [CompletionResultType]::ParameterName, 'Pass over hunks that are applied already, instead of refusing')
            [CompletionResult]::new('--allow-overwrite', '--allow-overwrite', [CompletionResultType]::ParameterName, 'Let an added or moved file replace one that is there')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;apply' {
            [CompletionResult]::new('--dialect', '--dialect', [CompletionResultType]::ParameterName, 'The patch format; without it the text tells')
            [CompletionResult]::new('-p', '-p', [CompletionResultType]::ParameterName, 'Drop N leading parts of each path of a unified diff; without it a/ and b/ are dropped where every path has one')
            [CompletionResult]::new('--strip', '--strip', [CompletionResultType]::ParameterName, 'Drop N leading parts of each path of a unified diff; without it a/ and b/ are dropped where every path has one')
            [CompletionResult]::new('--transport', '--transport', [CompletionResultType]::ParameterName, 'Read a stream and apply each call as it completes, one commit a call; results are JSON Lines with --json')
            [CompletionResult]::new('--match', '--match', [CompletionResultType]::ParameterName, 'The most lenient way of matching that may decide where a hunk goes; each allows all before it')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)')
            [CompletionResult]::new('--call-id', '--call-id', [CompletionResultType]::ParameterName, 'The id of the call in the log and in JSON; a log numbers its calls if it is absent')
            [CompletionResult]::new('--max-text', '--max-text', [CompletionResultType]::ParameterName, 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can''t be undone then is said')
            [CompletionResult]::new('--encoding', '--encoding', [CompletionResultType]::ParameterName, 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('-R', '-R ', [CompletionResultType]::ParameterName, 'Take the patch back: what it adds goes, what it removes comes again')
            [CompletionResult]::new('--reverse', '--reverse', [CompletionResultType]::ParameterName, 'Take the patch back: what it adds goes, what it removes comes again')
            [CompletionResult]::new('--allow-empty', '--allow-empty', [CompletionResultType]::ParameterName, 'Accept a patch that holds no file edit')
            [CompletionResult]::new('--stop', '--stop', [CompletionResultType]::ParameterName, 'With --transport: end at the first call that is refused')
            [CompletionResult]::new('--first-match', '--first-match', [CompletionResultType]::ParameterName, 'Where a hunk fits several places take the first, as Codex does, instead of refusing')
            [CompletionResult]::new('--skip-applied', '--skip-applied', [CompletionResultType]::ParameterName, 'Pass over hunks that are applied already, instead of refusing')
            [CompletionResult]::new('--allow-overwrite', '--allow-overwrite', [CompletionResultType]::ParameterName, 'Let an added or moved file replace one that is there')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; say what would be done, with the same exit status')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Write nothing; say what would be done, with the same exit status')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Also change files that have no write permission')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Write through the file: keeps hard links and owner, but is not atomic')
            [CompletionResult]::new('--no-sync', '--no-sync', [CompletionResultType]::ParameterName, 'Don''t wait until the disk has it: survives a killed process, not a power loss')
            [CompletionResult]::new('--allow-git-dir', '--allow-git-dir', [CompletionResultType]::ParameterName, 'Allow changes inside of .git, .hg and .jj')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;write' {
            [CompletionResult]::new('--content-file', '--content-file', [CompletionResultType]::ParameterName, 'Take the content from this file instead of standard input')
            [CompletionResult]::new('--expect-sha256', '--expect-sha256', [CompletionResultType]::ParameterName, 'Refuse unless the file as it stands has this SHA-256')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)')
            [CompletionResult]::new('--call-id', '--call-id', [CompletionResultType]::ParameterName, 'The id of the call in the log and in JSON; a log numbers its calls if it is absent')
            [CompletionResult]::new('--max-text', '--max-text', [CompletionResultType]::ParameterName, 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can''t be undone then is said')
            [CompletionResult]::new('--encoding', '--encoding', [CompletionResultType]::ParameterName, 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--if-absent', '--if-absent', [CompletionResultType]::ParameterName, 'Refuse if the file is there already')
            [CompletionResult]::new('--keep-style', '--keep-style', [CompletionResultType]::ParameterName, 'Convert line endings, byte order mark and encoding to those of the file that is replaced')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; say what would be done, with the same exit status')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Write nothing; say what would be done, with the same exit status')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Also change files that have no write permission')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Write through the file: keeps hard links and owner, but is not atomic')
            [CompletionResult]::new('--no-sync', '--no-sync', [CompletionResultType]::ParameterName, 'Don''t wait until the disk has it: survives a killed process, not a power loss')
            [CompletionResult]::new('--allow-git-dir', '--allow-git-dir', [CompletionResultType]::ParameterName, 'Allow changes inside of .git, .hg and .jj')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;edit' {
            [CompletionResult]::new('--old', '--old', [CompletionResultType]::ParameterName, 'The text to replace, which must stand exactly once; LF in it stands for LF and CRLF')
            [CompletionResult]::new('--old-file', '--old-file', [CompletionResultType]::ParameterName, 'Take the text to replace from this file, byte for byte')
            [CompletionResult]::new('--new', '--new', [CompletionResultType]::ParameterName, 'The text that comes in its place, literally')
            [CompletionResult]::new('--new-file', '--new-file', [CompletionResultType]::ParameterName, 'Take the new text from this file, byte for byte')
            [CompletionResult]::new('--args', '--args', [CompletionResultType]::ParameterName, 'Take path and texts from a tool call''s arguments as JSON; - is standard input')
            [CompletionResult]::new('--expect-count', '--expect-count', [CompletionResultType]::ParameterName, 'Replace the text wherever it stands, but refuse unless that is in exactly N places')
            [CompletionResult]::new('--expect-sha256', '--expect-sha256', [CompletionResultType]::ParameterName, 'Refuse unless the file as it stands has this SHA-256')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)')
            [CompletionResult]::new('--call-id', '--call-id', [CompletionResultType]::ParameterName, 'The id of the call in the log and in JSON; a log numbers its calls if it is absent')
            [CompletionResult]::new('--max-text', '--max-text', [CompletionResultType]::ParameterName, 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can''t be undone then is said')
            [CompletionResult]::new('--encoding', '--encoding', [CompletionResultType]::ParameterName, 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--replace-all', '--replace-all', [CompletionResultType]::ParameterName, 'Replace the text wherever it stands, not only once')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; say what would be done, with the same exit status')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Write nothing; say what would be done, with the same exit status')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Also change files that have no write permission')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Write through the file: keeps hard links and owner, but is not atomic')
            [CompletionResult]::new('--no-sync', '--no-sync', [CompletionResultType]::ParameterName, 'Don''t wait until the disk has it: survives a killed process, not a power loss')
            [CompletionResult]::new('--allow-git-dir', '--allow-git-dir', [CompletionResultType]::ParameterName, 'Allow changes inside of .git, .hg and .jj')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;replay' {
            [CompletionResult]::new('--files-from', '--files-from', [CompletionResultType]::ParameterName, 'Read the paths of more logs and folders from this file, one a line; - is standard input')
            [CompletionResult]::new('--agent', '--agent', [CompletionResultType]::ParameterName, 'Of the sessions that agents keep only those of this one')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'The logs'' format, or auto to find it out from their first lines; generic finds patches in any JSON or text')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--acp-version', '--acp-version', [CompletionResultType]::ParameterName, 'The version of the protocol that --output acp speaks')
            [CompletionResult]::new('--path', '--path', [CompletionResultType]::ParameterName, 'Only cards that name a file like this, or one below a folder like this; without a slash a name anywhere; * also matches /; with ! in front none like this; may be given several times')
            [CompletionResult]::new('--status', '--status', [CompletionResultType]::ParameterName, 'Only cards of these statuses, separated by commas; with ! in front none of this status')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'Only cards of these tools, separated by commas; in capitals or not')
            [CompletionResult]::new('--call', '--call', [CompletionResultType]::ParameterName, 'Only the card of this call; may be given several times')
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'Only cards of these turns: N, N..M, N.. or ..M')
            [CompletionResult]::new('--poll', '--poll', [CompletionResultType]::ParameterName, 'With --follow: look at the logs this often and don''t rely on the system to tell of changes, such as 200ms')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--latest', '--latest', [CompletionResultType]::ParameterName, 'Draw the session that was written last')
            [CompletionResult]::new('--net', '--net', [CompletionResultType]::ParameterName, 'One card a file, with what all calls together changed; with --output patch one patch of the files as they were before. Calls that are left out by other options are passed over')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on as the logs grow, until Ctrl-C; what is not there yet is waited for, and new logs in a folder are read')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on as the logs grow, until Ctrl-C; what is not there yet is waited for, and new logs in a folder are read')
            [CompletionResult]::new('--strict', '--strict', [CompletionResultType]::ParameterName, 'End with status 1 if something in a log was not understood')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;undo' {
            [CompletionResult]::new('--last', '--last', [CompletionResultType]::ParameterName, 'Take back the last N calls that are in effect, newest first; undos are passed over [default: 1]')
            [CompletionResult]::new('--call', '--call', [CompletionResultType]::ParameterName, 'Take back the call of this id; of an undo: bring back what it took away')
            [CompletionResult]::new('--turn', '--turn', [CompletionResultType]::ParameterName, 'Take back what these turns changed: N, N..M, N.. or ..M')
            [CompletionResult]::new('--log', '--log', [CompletionResultType]::ParameterName, 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)')
            [CompletionResult]::new('--call-id', '--call-id', [CompletionResultType]::ParameterName, 'The id of the call in the log and in JSON; a log numbers its calls if it is absent')
            [CompletionResult]::new('--max-text', '--max-text', [CompletionResultType]::ParameterName, 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can''t be undone then is said')
            [CompletionResult]::new('--encoding', '--encoding', [CompletionResultType]::ParameterName, 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'Write nothing; say what would be done, with the same exit status')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Write nothing; say what would be done, with the same exit status')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Also change files that have no write permission')
            [CompletionResult]::new('--in-place', '--in-place', [CompletionResultType]::ParameterName, 'Write through the file: keeps hard links and owner, but is not atomic')
            [CompletionResult]::new('--no-sync', '--no-sync', [CompletionResultType]::ParameterName, 'Don''t wait until the disk has it: survives a killed process, not a power loss')
            [CompletionResult]::new('--allow-git-dir', '--allow-git-dir', [CompletionResultType]::ParameterName, 'Allow changes inside of .git, .hg and .jj')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;show' {
            [CompletionResult]::new('--dialect', '--dialect', [CompletionResultType]::ParameterName, 'The patch format; without it the text tells')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;diff' {
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'How to print')
            [CompletionResult]::new('--acp-version', '--acp-version', [CompletionResultType]::ParameterName, 'The version of the protocol that --output acp speaks')
            [CompletionResult]::new('--context', '--context', [CompletionResultType]::ParameterName, 'How many unchanged lines a patch shows around a change; cards always have three')
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;demo' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;completions' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;man' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;schema' {
            [CompletionResult]::new('--root', '--root', [CompletionResultType]::ParameterName, 'The folder that relative paths start at and that no change may leave')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colours')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas')
            [CompletionResult]::new('--hyperlinks', '--hyperlinks', [CompletionResultType]::ParameterName, 'When to make links of paths (OSC 8): auto only on terminals that are known to take them')
            [CompletionResult]::new('--hyperlink-format', '--hyperlink-format', [CompletionResultType]::ParameterName, 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed')
            [CompletionResult]::new('--syntax', '--syntax', [CompletionResultType]::ParameterName, 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page')
            [CompletionResult]::new('--no-pager', '--no-pager', [CompletionResultType]::ParameterName, 'Print to the terminal itself: no pager for diff, show and replay')
            [CompletionResult]::new('--full', '--full', [CompletionResultType]::ParameterName, 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)')
            [CompletionResult]::new('-q', '-q', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('--quiet', '--quiet', [CompletionResultType]::ParameterName, 'Print nothing but errors')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'hunkwise;help' {
            [CompletionResult]::new('preview', 'preview', [CompletionResultType]::ParameterValue, 'Show tentative previews of a patch while it is being written; writes no file')
            [CompletionResult]::new('apply', 'apply', [CompletionResultType]::ParameterValue, 'Apply a patch, all of it or nothing')
            [CompletionResult]::new('write', 'write', [CompletionResultType]::ParameterValue, 'Create or overwrite one file')
            [CompletionResult]::new('edit', 'edit', [CompletionResultType]::ParameterValue, 'Replace a text in one file')
            [CompletionResult]::new('replay', 'replay', [CompletionResultType]::ParameterValue, 'Draw the diff cards of stored session logs; touches no file that the logs name')
            [CompletionResult]::new('undo', 'undo', [CompletionResultType]::ParameterValue, 'Take back edits that a session log records')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'Draw a patch as it stands, a card for each file edit; looks at no file that it names')
            [CompletionResult]::new('diff', 'diff', [CompletionResultType]::ParameterValue, 'Compare two files or two folders')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Preview, apply and replay a built-in patch in a temporary folder')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completion script of a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the manual page, or write all of them into a folder')
            [CompletionResult]::new('schema', 'schema', [CompletionResultType]::ParameterValue, 'Print the JSON schema of an output, or the names of all schemas')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'hunkwise;help;preview' {
            break
        }
        'hunkwise;help;apply' {
            break
        }
        'hunkwise;help;write' {
            break
        }
        'hunkwise;help;edit' {
            break
        }
        'hunkwise;help;replay' {
            break
        }
        'hunkwise;help;undo' {
            break
        }
        'hunkwise;help;show' {
            break
        }
        'hunkwise;help;diff' {
            break
        }
        'hunkwise;help;demo' {
            break
        }
        'hunkwise;help;completions' {
            break
        }
        'hunkwise;help;man' {
            break
        }
        'hunkwise;help;schema' {
            break
        }
        'hunkwise;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
