#!/bin/bash
# Types the blocks of a page, as a reader does: session.sh FOLDER
#
# It runs in namespaces of its own: nothing else listens on port 8087, /etc/hosts is a file of FOLDER, and everything
# that a block leaves running ends with this shell. FOLDER/steps has, in order, *.reader (what the reader does unseen)
# and *.block (typed command by command). Prints the byte 1c before each block, 1e before each command, 1f between the
# command and its output, and 1d between the output and the exit code.
set -u
folder=$1
# What words of the page stand for, commands without what they need, and commands that run until Ctrl-C. page_blocks.py
# writes them.
words=() values=() missing=() reasons=() endless=() until=() meanwhile=()
# shellcheck disable=SC1091
. "$folder/tables.sh"
ip link set lo up
mount --bind "$folder/hosts" /etc/hosts
cd "$folder/work" || exit
shopt -s expand_aliases
server=$folder/server

# `serve` in the foreground is another terminal. Ctrl-C ends the server that ran there before.
serve_in_a_terminal() {
    if [ -s "$server.pid" ]; then
        kill -INT "$(cat "$server.pid")"
        wait "$script"
    fi
    rm -f "$server.pid"
    printf 'echo $$ >%q\nexec %s\n' "$server.pid" "$1" >"$server.sh"
    : >"$server.log"
    script -qefc "bash $server.sh" /dev/null </dev/null >"$server.log" 2>&1 &
    script=$!
    until grep -q 'Stop with Ctrl-C' "$server.log" || ! kill -0 $script 2>/dev/null; do sleep 0.02; done
    sed '/Stop with Ctrl-C/q' "$server.log"
    kill -0 $script 2>/dev/null && return
    rm -f "$server.pid"
    wait $script
}

# Runs a command until a line of its output matches, prints the output up to it, and ends the command. Does `$3` again
# and again: a command that follows something may not follow it yet.
interrupt() {
    local log=$folder/interrupted pid
    : >"$log"
    (eval "exec $1") >"$log" 2>&1 </dev/null &
    pid=$!
    until grep -qE -- "$2" "$log" || ! kill -0 $pid 2>/dev/null; do
        eval "$3" >/dev/null 2>&1
        sleep 0.05
    done
    kill $pid 2>/dev/null
    wait $pid 2>/dev/null
    sed -E "\\|$2|q" "$log"
}

run() {
    local index command=$1
    for index in "${!missing[@]}"; do
        [[ $1 =~ ${missing[index]} ]] && { printf '[not run: %s]' "${reasons[index]}"; return; }
    done
    for index in "${!words[@]}"; do command=${command//"${words[index]}"/"${values[index]}"}; done
    for index in "${!endless[@]}"; do
        [[ $1 == "${endless[index]}"* ]] && { interrupt "$command" "${until[index]}" "${meanwhile[index]}"; return; }
    done
    if [[ $command =~ ^scribe-emulator\ serve && ! $command =~ \&$ ]]; then
        serve_in_a_terminal "$command"
    elif [[ $command =~ \&$ ]]; then
        # Its log would come between the outputs of other commands.
        eval "{ ${command%&}; } >>$folder/background 2>&1 &"
    else
        eval "$command"
    fi
}

is_complete() {
    local problem
    [[ $1 != *\\ ]] && problem=$(bash -n -c "$1" 2>&1) && [ -z "$problem" ]
}

type_block() {
    local line typed=
    printf '\x1c'
    while IFS= read -r line <&9; do
        typed+=$line
        [ -n "$typed" ] || continue
        if ! is_complete "$typed"; then
            typed+=$'\n'
            continue
        fi
        [[ $typed == "#"* ]] || before_each "$typed" >"$1.log" 2>&1
        printf '\x1e%s\x1f' "$typed"
        run "$typed" </dev/null 9<&- 2>&1
        printf '\x1d%s' $?
        typed=
    done 9<"$1"
    [ -z "$typed" ] || printf '\x1e%s\x1f[a command without an end]\x1d2' "$typed"
    before_each() { :; }
}

# What the reader does before a command. A step of the reader may define it for the next block.
before_each() { :; }

for step in "$folder"/steps/*; do
    case $step in
    *.block) type_block "$step" ;;
    *.reader)
        # shellcheck disable=SC1090
        . "$step" >"$step.log" 2>&1 </dev/null || {
            cat "$step.log"
            exit 1
        }
        ;;
    esac
done
printf '\x1c'
