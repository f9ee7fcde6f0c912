# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_hunkwise_global_optspecs
    string join \n root= color= theme= no-pager hyperlinks= hyperlink-format= syntax= full json q/quiet h/help V/version
end

function __fish_hunkwise_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_hunkwise_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_hunkwise_using_subcommand
    set -l cmd (__fish_hunkwise_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c hunkwise -n "__fish_hunkwise_needs_command" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_needs_command" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_needs_command" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_needs_command" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_needs_command" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_needs_command" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_needs_command" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "preview" -d 'Show tentative previews of a patch while it is being written; writes no file'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "apply" -d 'Apply a patch, all of it or nothing'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "write" -d 'Create or overwrite one file'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "edit" -d 'Replace a text in one file'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "replay" -d 'Draw the diff cards of stored session logs; touches no file that the logs name'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "undo" -d 'Take back edits that a session log records'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "show" -d 'Draw a patch as it stands, a card for each file edit; looks at no file that it names'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "diff" -d 'Compare two files or two folders'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "demo" -d 'Preview, apply and replay a built-in patch in a temporary folder'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "completions" -d 'Print the completion script of a shell'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "man" -d 'Print the manual page, or write all of them into a folder'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "schema" -d 'Print the JSON schema of an output, or the names of all schemas'
complete -c hunkwise -n "__fish_hunkwise_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l interval -d 'The least time between two previews, such as 500ms, 2s or 0' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l dialect -d 'The patch format; without it the text tells' -r -f -a "apply-patch\t'Codex\'s envelope: *** Begin Patch to *** End Patch'
unified\t'What diff -u and git diff write: --- and +++ names, @@ hunks'
search-replace\t'The blocks of aider, Cline and Roo: <<<<<<< SEARCH to >>>>>>> REPLACE'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l transport -d 'How the patch\'s text arrives' -r -f -a "auto\t'Told from the first complete line'
text\t'The patch itself'
sse\t'A model\'s stream as server-sent events; each call of a tool that edits files is one patch'
jsonl\t'The same events as JSON Lines; also an agent\'s log while it is being written'
tape\t'JSON Lines {"t":MILLISECONDS,"delta":"text"}, whose times stand for the clock'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l encoding -d 'The encoding of the files, as for apply' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l record -d 'Write the stream with its times to this file, as a tape' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l output -d 'How to print' -r -f -a "card\t'For people'
json\t'JSON Lines, schema hunkwise/preview/v1'
codex\t'Codex\'s patch_apply_updated events, as JSON Lines'
acp\t'The Agent Client Protocol\'s session/update messages, as JSON Lines'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l acp-version -d 'The version of the protocol that --output acp speaks' -r -f -a "1\t'The first'
2\t'The second, a draft'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l match -d 'The most lenient way of matching that may decide where a hunk goes; each allows all before it' -r -f -a "exact\t'Every old line is equal'
trailing-blanks\t'Blanks at line ends do not count'
indentation\t'The indentation may differ by one prefix or one unit'
unicode\t'Typographic quotes, dashes, spaces and composed characters equal their plain forms'
context\t'A few context lines at the outer ends of a hunk may differ or be missing'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l text-patches -d 'Also preview patches of any dialect that stand in a model\'s text, in its stream or as plain input: apply_patch envelopes, SEARCH/REPLACE blocks, and unified diffs in Markdown fences'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l fail-fast -d 'End with status 1 as soon as something can\'t fit the files; without it that is shown, and the status is 0'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l no-locate -d 'Look at no file: show only what the patch says, without line numbers'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l first-match -d 'Where a hunk fits several places take the first, as Codex does, instead of refusing'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l skip-applied -d 'Pass over hunks that are applied already, instead of refusing'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l allow-overwrite -d 'Let an added or moved file replace one that is there'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand preview" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l dialect -d 'The patch format; without it the text tells' -r -f -a "apply-patch\t'Codex\'s envelope: *** Begin Patch to *** End Patch'
unified\t'What diff -u and git diff write: --- and +++ names, @@ hunks'
search-replace\t'The blocks of aider, Cline and Roo: <<<<<<< SEARCH to >>>>>>> REPLACE'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -s p -l strip -d 'Drop N leading parts of each path of a unified diff; without it a/ and b/ are dropped where every path has one' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l transport -d 'Read a stream and apply each call as it completes, one commit a call; results are JSON Lines with --json' -r -f -a "auto\t'Told from the first complete line'
text\t'The patch itself'
sse\t'A model\'s stream as server-sent events; each call of a tool that edits files is one patch'
jsonl\t'The same events as JSON Lines; also an agent\'s log while it is being written'
tape\t'JSON Lines {"t":MILLISECONDS,"delta":"text"}, whose times stand for the clock'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l match -d 'The most lenient way of matching that may decide where a hunk goes; each allows all before it' -r -f -a "exact\t'Every old line is equal'
trailing-blanks\t'Blanks at line ends do not count'
indentation\t'The indentation may differ by one prefix or one unit'
unicode\t'Typographic quotes, dashes, spaces and composed characters equal their plain forms'
context\t'A few context lines at the outer ends of a hunk may differ or be missing'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l log -d 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l call-id -d 'The id of the call in the log and in JSON; a log numbers its calls if it is absent' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l max-text -d 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can\'t be undone then is said' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l encoding -d 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -s R -l reverse -d 'Take the patch back: what it adds goes, what it removes comes again'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l allow-empty -d 'Accept a patch that holds no file edit'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l stop -d 'With --transport: end at the first call that is refused'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l first-match -d 'Where a hunk fits several places take the first, as Codex does, instead of refusing'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l skip-applied -d 'Pass over hunks that are applied already, instead of refusing'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l allow-overwrite -d 'Let an added or moved file replace one that is there'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l check -l dry-run -d 'Write nothing; say what would be done, with the same exit status'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l force -d 'Also change files that have no write permission'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l in-place -d 'Write through the file: keeps hard links and owner, but is not atomic'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l no-sync -d 'Don\'t wait until the disk has it: survives a killed process, not a power loss'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l allow-git-dir -d 'Allow changes inside of .git, .hg and .jj'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand apply" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l content-file -d 'Take the content from this file instead of standard input' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l expect-sha256 -d 'Refuse unless the file as it stands has this SHA-256' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l log -d 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l call-id -d 'The id of the call in the log and in JSON; a log numbers its calls if it is absent' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l max-text -d 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can\'t be undone then is said' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l encoding -d 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l if-absent -d 'Refuse if the file is there already'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l keep-style -d 'Convert line endings, byte order mark and encoding to those of the file that is replaced'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l check -l dry-run -d 'Write nothing; say what would be done, with the same exit status'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l force -d 'Also change files that have no write permission'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l in-place -d 'Write through the file: keeps hard links and owner, but is not atomic'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l no-sync -d 'Don\'t wait until the disk has it: survives a killed process, not a power loss'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l allow-git-dir -d 'Allow changes inside of .git, .hg and .jj'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand write" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l old -d 'The text to replace, which must stand exactly once; LF in it stands for LF and CRLF' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l old-file -d 'Take the text to replace from this file, byte for byte' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l new -d 'The text that comes in its place, literally' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l new-file -d 'Take the new text from this file, byte for byte' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l args -d 'Take path and texts from a tool call\'s arguments as JSON; - is standard input' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l expect-count -d 'Replace the text wherever it stands, but refuse unless that is in exactly N places' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l expect-sha256 -d 'Refuse unless the file as it stands has this SHA-256' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l log -d 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l call-id -d 'The id of the call in the log and in JSON; a log numbers its calls if it is absent' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l max-text -d 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can\'t be undone then is said' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l encoding -d 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l replace-all -d 'Replace the text wherever it stands, not only once'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l check -l dry-run -d 'Write nothing; say what would be done, with the same exit status'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l force -d 'Also change files that have no write permission'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l in-place -d 'Write through the file: keeps hard links and owner, but is not atomic'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l no-sync -d 'Don\'t wait until the disk has it: survives a killed process, not a power loss'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l allow-git-dir -d 'Allow changes inside of .git, .hg and .jj'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand edit" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l files-from -d 'Read the paths of more logs and folders from this file, one a line; - is standard input' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l agent -d 'Of the sessions that agents keep only those of this one' -r -f -a "claude\t''
codex\t''
dsh\t''
pi\t''
gemini\t''
qwen\t''
copilot\t''
cursor\t''"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l format -d 'The logs\' format, or auto to find it out from their first lines; generic finds patches in any JSON or text' -r -f -a "auto\t''
dsh\t''
claude\t''
codex\t''
acp\t''
pi\t''
opencode\t''
gemini\t''
qwen\t''
openhands\t''
copilot\t''
cursor\t''
aider\t''
cline\t''
swe-agent\t''
generic\t''"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l output -d 'How to print' -r -f -a "card\t'For people'
json\t'JSON Lines, schema hunkwise/card/v1'
patch\t'One patch that git applies; what a log does not record is left out, with a note'
stat\t'Counts of changed lines; with --json a row a file of each call, schema hunkwise/stat/v1'
side-by-side\t'Old and new beside each other, from 60 columns on'
html\t'One page with an index, without script and without anything from elsewhere'
markdown\t'Markdown, as for a pull request'
acp\t'The Agent Client Protocol\'s session/update messages, one a card, as JSON Lines'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l acp-version -d 'The version of the protocol that --output acp speaks' -r -f -a "1\t'The first'
2\t'The second, a draft'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l path -d 'Only cards that name a file like this, or one below a folder like this; without a slash a name anywhere; * also matches /; with ! in front none like this; may be given several times' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l status -d 'Only cards of these statuses, separated by commas; with ! in front none of this status' -r -f -a "applied\t''
partial\t''
failed\t''
rejected\t''
held\t''
unknown\t''"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l tool -d 'Only cards of these tools, separated by commas; in capitals or not' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l call -d 'Only the card of this call; may be given several times' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l turn -d 'Only cards of these turns: N, N..M, N.. or ..M' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l poll -d 'With --follow: look at the logs this often and don\'t rely on the system to tell of changes, such as 200ms' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l latest -d 'Draw the session that was written last'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l net -d 'One card a file, with what all calls together changed; with --output patch one patch of the files as they were before. Calls that are left out by other options are passed over'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -s f -l follow -d 'Go on as the logs grow, until Ctrl-C; what is not there yet is waited for, and new logs in a folder are read'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l strict -d 'End with status 1 if something in a log was not understood'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand replay" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l last -d 'Take back the last N calls that are in effect, newest first; undos are passed over [default: 1]' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l call -d 'Take back the call of this id; of an undo: bring back what it took away' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l turn -d 'Take back what these turns changed: N, N..M, N.. or ..M' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l log -d 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l call-id -d 'The id of the call in the log and in JSON; a log numbers its calls if it is absent' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l max-text -d 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can\'t be undone then is said' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l encoding -d 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l check -l dry-run -d 'Write nothing; say what would be done, with the same exit status'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l force -d 'Also change files that have no write permission'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l in-place -d 'Write through the file: keeps hard links and owner, but is not atomic'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l no-sync -d 'Don\'t wait until the disk has it: survives a killed process, not a power loss'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l allow-git-dir -d 'Allow changes inside of .git, .hg and .jj'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand undo" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l dialect -d 'The patch format; without it the text tells' -r -f -a "apply-patch\t'Codex\'s envelope: *** Begin Patch to *** End Patch'
unified\t'What diff -u and git diff write: --- and +++ names, @@ hunks'
search-replace\t'The blocks of aider, Cline and Roo: <<<<<<< SEARCH to >>>>>>> REPLACE'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l output -d 'How to print' -r -f -a "card\t'For people'
json\t'JSON Lines, schema hunkwise/card/v1'
stat\t'Counts of changed lines'
side-by-side\t'Old and new beside each other, from 60 columns on'
html\t'One page with an index, without script and without anything from elsewhere'
markdown\t'Markdown, as for a pull request'
apply-patch\t'The patch written anew in Codex\'s envelope; what that can\'t say is refused, and nothing is printed'
unified\t'The patch written anew as a unified diff with right counts, with git\'s headers where they are needed'
search-replace\t'The patch written anew as the blocks of aider'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand show" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l output -d 'How to print' -r -f -a "card\t'For people'
json\t'JSON Lines, schema hunkwise/card/v1'
patch\t'One patch that git applies; what a log does not record is left out, with a note'
stat\t'Counts of changed lines; with --json a row a file of each call, schema hunkwise/stat/v1'
side-by-side\t'Old and new beside each other, from 60 columns on'
html\t'One page with an index, without script and without anything from elsewhere'
markdown\t'Markdown, as for a pull request'
acp\t'The Agent Client Protocol\'s session/update messages, one a card, as JSON Lines'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l acp-version -d 'The version of the protocol that --output acp speaks' -r -f -a "1\t'The first'
2\t'The second, a draft'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l context -d 'How many unchanged lines a patch shows around a change; cards always have three' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand diff" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand demo" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand completions" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand man" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l root -d 'The folder that relative paths start at and that no change may leave' -r -F
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l color -d 'When to use colours' -r -f -a "auto\t'On a terminal only, unless the environment says otherwise'
always\t'Also into a file or a pipe'
never\t'Not even on a terminal'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l theme -d 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas' -r -f -a "auto\t'Dark or light, as the terminal says when it is asked'
dark\t'For a dark terminal'
light\t'For a light terminal'
color-blind\t'Blue and orange'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l hyperlinks -d 'When to make links of paths (OSC 8): auto only on terminals that are known to take them' -r -f -a "auto\t'Where it is known to be right'
always\t'Always'
never\t'Never'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l hyperlink-format -d 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed' -r
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l syntax -d 'Whether code is coloured by the syntax of its language, where there are 256 colours or a page' -r -f -a "auto\t'Where the language is known by the file\'s name, and up to some size'
never\t'Not at all'"
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l no-pager -d 'Print to the terminal itself: no pager for diff, show and replay'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l full -d 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -l json -d 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -s q -l quiet -d 'Print nothing but errors'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand schema" -s V -l version -d 'Print version'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "preview" -d 'Show tentative previews of a patch while it is being written; writes no file'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "apply" -d 'Apply a patch, all of it or nothing'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "write" -d 'Create or overwrite one file'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "edit" -d 'Replace a text in one file'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "replay" -d 'Draw the diff cards of stored session logs; touches no file that the logs name'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "undo" -d 'Take back edits that a session log records'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "show" -d 'Draw a patch as it stands, a card for each file edit; looks at no file that it names'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "diff" -d 'Compare two files or two folders'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "demo" -d 'Preview, apply and replay a built-in patch in a temporary folder'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "completions" -d 'Print the completion script of a shell'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "man" -d 'Print the manual page, or write all of them into a folder'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "schema" -d 'Print the JSON schema of an output, or the names of all schemas'
complete -c hunkwise -n "__fish_hunkwise_using_subcommand help; and not __fish_seen_subcommand_from preview apply write edit replay undo show diff demo completions man schema help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
