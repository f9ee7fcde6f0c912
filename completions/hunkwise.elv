
use builtin;
use str;

set edit:completion:arg-completer[hunkwise] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'hunkwise'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'hunkwise'= {
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand preview 'Show tentative previews of a patch while it is being written; writes no file'
            cand apply 'Apply a patch, all of it or nothing'
            cand write 'Create or overwrite one file'
            cand edit 'Replace a text in one file'
            cand replay 'Draw the diff cards of stored session logs; touches no file that the logs name'
            cand undo 'Take back edits that a session log records'
            cand show 'Draw a patch as it stands, a card for each file edit; looks at no file that it names'
            cand diff 'Compare two files or two folders'
            cand demo 'Preview, apply and replay a built-in patch in a temporary folder'
            cand completions 'Print the completion script of a shell'
            cand man 'Print the manual page, or write all of them into a folder'
            cand schema 'Print the JSON schema of an output, or the names of all schemas'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'hunkwise;preview'= {
            cand --interval 'The least time between two previews, such as 500ms, 2s or 0'
            cand --dialect 'The patch format; without it the text tells'
            cand --transport 'How the patch''s text arrives'
            cand --encoding 'The encoding of the files, as for apply'
            cand --record 'Write the stream with its times to this file, as a tape'
            cand --output 'How to print'
            cand --acp-version 'The version of the protocol that --output acp speaks'
            cand --match 'The most lenient way of matching that may decide where a hunk goes; each allows all before it'
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --text-patches 'Also preview patches of any dialect that stand in a model''s text, in its stream or as plain input: apply_patch envelopes, SEARCH/REPLACE blocks, and unified diffs in Markdown fences'
            cand --fail-fast 'End with status 1 as soon as something can''t fit the files; without it that is shown, and the status is 0'
            cand --no-locate 'Look at no file: show only what the patch says, without line numbers'
            cand --first-match 'Where a hunk fits several places take the first, as Codex does, instead of refusing'
            cand --skip-applied 'Pass over hunks that are applied already, instead of refusing'
            cand --allow-overwrite 'Let an added or moved file replace one that is there'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;apply'= {
            cand --dialect 'The patch format; without it the text tells'
            cand -p 'Drop N leading parts of each path of a unified diff; without it a/ and b/ are dropped where every path has one'
            cand --strip 'Drop N leading parts of each path of a unified diff; without it a/ and b/ are dropped where every path has one'
            cand --transport 'Read a stream and apply each call as it completes, one commit a call; results are JSON Lines with --json'
            cand --match 'The most lenient way of matching that may decide where a hunk goes; each allows all before it'
            cand --log 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)'
            cand --call-id 'The id of the call in the log and in JSON; a log numbers its calls if it is absent'
            cand --max-text 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can''t be undone then is said'
            cand --encoding 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added'
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand -R 'Take the patch back: what it adds goes, what it removes comes again'
            cand --reverse 'Take the patch back: what it adds goes, what it removes comes again'
            cand --allow-empty 'Accept a patch that holds no file edit'
            cand --stop 'With --transport: end at the first call that is refused'
            cand --first-match 'Where a hunk fits several places take the first, as Codex does, instead of refusing'
            cand --skip-applied 'Pass over hunks that are applied already, instead of refusing'
            cand --allow-overwrite 'Let an added or moved file replace one that is there'
            cand --check 'Write nothing; say what would be done, with the same exit status'
            cand --dry-run 'Write nothing; say what would be done, with the same exit status'
            cand --force 'Also change files that have no write permission'
            cand --in-place 'Write through the file: keeps hard links and owner, but is not atomic'
            cand --no-sync 'Don''t wait until the disk has it: survives a killed process, not a power loss'
            cand --allow-git-dir 'Allow changes inside of .git, .hg and .jj'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;write'= {
            cand --content-file 'Take the content from this file instead of standard input'
            cand --expect-sha256 'Refuse unless the file as it stands has this SHA-256'
            cand --log 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)'
            cand --call-id 'The id of the call in the log and in JSON; a log numbers its calls if it is absent'
            cand --max-text 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can''t be undone then is said'
            cand --encoding 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added'
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --if-absent 'Refuse if the file is there already'
            cand --keep-style 'Convert line endings, byte order mark and encoding to those of the file that is replaced'
            cand --check 'Write nothing; say what would be done, with the same exit status'
            cand --dry-run 'Write nothing; say what would be done, with the same exit status'
            cand --force 'Also change files that have no write permission'
            cand --in-place 'Write through the file: keeps hard links and owner, but is not atomic'
            cand --no-sync 'Don''t wait until the disk has it: survives a killed process, not a power loss'
            cand --allow-git-dir 'Allow changes inside of .git, .hg and .jj'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;edit'= {
            cand --old 'The text to replace, which must stand exactly once; LF in it stands for LF and CRLF'
            cand --old-file 'Take the text to replace from this file, byte for byte'
            cand --new 'The text that comes in its place, literally'
            cand --new-file 'Take the new text from this file, byte for byte'
            cand --args 'Take path and texts from a tool call''s arguments as JSON; - is standard input'
            cand --expect-count 'Replace the text wherever it stands, but refuse unless that is in exactly N places'
            cand --expect-sha256 'Refuse unless the file as it stands has this SHA-256'
            cand --log 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)'
            cand --call-id 'The id of the call in the log and in JSON; a log numbers its calls if it is absent'
            cand --max-text 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can''t be undone then is said'
            cand --encoding 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added'
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --replace-all 'Replace the text wherever it stands, not only once'
            cand --check 'Write nothing; say what would be done, with the same exit status'
            cand --dry-run 'Write nothing; say what would be done, with the same exit status'
            cand --force 'Also change files that have no write permission'
            cand --in-place 'Write through the file: keeps hard links and owner, but is not atomic'
            cand --no-sync 'Don''t wait until the disk has it: survives a killed process, not a power loss'
            cand --allow-git-dir 'Allow changes inside of .git, .hg and .jj'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;replay'= {
            cand --files-from 'Read the paths of more logs and folders from this file, one a line; - is standard input'
            cand --agent 'Of the sessions that agents keep only those of this one'
            cand --format 'The logs'' format, or auto to find it out from their first lines; generic finds patches in any JSON or text'
            cand --output 'How to print'
            cand --acp-version 'The version of the protocol that --output acp speaks'
            cand --path 'Only cards that name a file like this, or one below a folder like this; without a slash a name anywhere; * also matches /; with ! in front none like this; may be given several times'
            cand --status 'Only cards of these statuses, separated by commas; with ! in front none of this status'
            cand --tool 'Only cards of these tools, separated by commas; in capitals or not'
            cand --call 'Only the card of this call; may be given several times'
            cand --turn 'Only cards of these turns: N, N..M, N.. or ..M'
            cand --poll 'With --follow: look at the logs this often and don''t rely on the system to tell of changes, such as 200ms'
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --latest 'Draw the session that was written last'
            cand --net 'One card a file, with what all calls together changed; with --output patch one patch of the files as they were before. Calls that are left out by other options are passed over'
            cand -f 'Go on as the logs grow, until Ctrl-C; what is not there yet is waited for, and new logs in a folder are read'
            cand --follow 'Go on as the logs grow, until Ctrl-C; what is not there yet is waited for, and new logs in a folder are read'
            cand --strict 'End with status 1 if something in a log was not understood'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;undo'= {
            cand --last 'Take back the last N calls that are in effect, newest first; undos are passed over [default: 1]'
            cand --call 'Take back the call of this id; of an undo: bring back what it took away'
            cand --turn 'Take back what these turns changed: N, N..M, N.. or ..M'
            cand --log 'Append the call and its result to this session log (nothing is logged with --check; undo: to LOG itself without this)'
            cand --call-id 'The id of the call in the log and in JSON; a log numbers its calls if it is absent'
            cand --max-text 'Texts longer than this are left out of JSON (before and after are null, and opaque says why), and so many old bytes of a file out of the log: that it can''t be undone then is said'
            cand --encoding 'The encoding of the files, as the WHATWG names it, such as shift_jis or windows-1252; without it a byte order mark or the bytes tell, and where they only let guess it, nothing but ASCII is added'
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --check 'Write nothing; say what would be done, with the same exit status'
            cand --dry-run 'Write nothing; say what would be done, with the same exit status'
            cand --force 'Also change files that have no write permission'
            cand --in-place 'Write through the file: keeps hard links and owner, but is not atomic'
            cand --no-sync 'Don''t wait until the disk has it: survives a killed process, not a power loss'
            cand --allow-git-dir 'Allow changes inside of .git, .hg and .jj'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;show'= {
            cand --dialect 'The patch format; without it the text tells'
            cand --output 'How to print'
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;diff'= {
            cand --output 'How to print'
            cand --acp-version 'The version of the protocol that --output acp speaks'
            cand --context 'How many unchanged lines a patch shows around a change; cards always have three'
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;demo'= {
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;completions'= {
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;man'= {
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;schema'= {
            cand --root 'The folder that relative paths start at and that no change may leave'
            cand --color 'When to use colours'
            cand --theme 'Colours for a dark or a light terminal, or blue and orange in place of green and red; several with commas'
            cand --hyperlinks 'When to make links of paths (OSC 8): auto only on terminals that are known to take them'
            cand --hyperlink-format 'What links lead to: an address with {path}, and with {host}, {line} or {column}, or the name of a known one: default, none, file, cursor, grep+, idea, kitty, macvim, textmate, vscode, vscode-insiders, vscodium, zed'
            cand --full 'Draw everything: break long lines in place of cutting them, and show all lines of new and deleted files'
            cand --json 'Print JSON: one document, or JSON Lines where results come one by one (preview, replay, show)'
            cand -q 'Print nothing but errors'
            cand --quiet 'Print nothing but errors'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'hunkwise;help'= {
            cand preview 'Show tentative previews of a patch while it is being written; writes no file'
            cand apply 'Apply a patch, all of it or nothing'
            cand write 'Create or overwrite one file'
            cand edit 'Replace a text in one file'
            cand replay 'Draw the diff cards of stored session logs; touches no file that the logs name'
            cand undo 'Take back edits that a session log records'
            cand show 'Draw a patch as it stands, a card for each file edit; looks at no file that it names'
            cand diff 'Compare two files or two folders'
            cand demo 'Preview, apply and replay a built-in patch in a temporary folder'
            cand completions 'Print the completion script of a shell'
            cand man 'Print the manual page, or write all of them into a folder'
            cand schema 'Print the JSON schema of an output, or the names of all schemas'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'hunkwise;help;preview'= {
        }
        &'hunkwise;help;apply'= {
        }
        &'hunkwise;help;write'= {
        }
        &'hunkwise;help;edit'= {
        }
        &'hunkwise;help;replay'= {
        }
        &'hunkwise;help;undo'= {
        }
        &'hunkwise;help;show'= {
        }
        &'hunkwise;help;diff'= {
        }
        &'hunkwise;help;demo'= {
        }
        &'hunkwise;help;completions'= {
        }
        &'hunkwise;help;man'= {
        }
        &'hunkwise;help;schema'= {
        }
        &'hunkwise;help;help'= {
        }
    ]
    $completions[$command]
}
