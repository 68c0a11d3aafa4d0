# For scripts to read with `.`: `step "building the program" COMMAND …` names the step, shows that it goes on, and, if it
# fails, the output of the command. The status is the command's. A function runs as a script of its own does with `set -e`: it ends with
# its first command that fails, and its `exit` ends the function alone.
#
# On a terminal one line tells the time and the command's last line; elsewhere, as in CI, a line is written every half minute.

step() {
    local words=$1 begun=$SECONDS status=0 log watcher
    shift
    log=$(mktemp)
    step_watch "$words" "$log" &
    watcher=$!
    # In the foreground, so that Ctrl-C ends it. Behind `||` or `if`, Bash would ignore `set -e` in a function.
    local -
    set +e
    (set -e; "$@") > "$log" 2>&1 < /dev/null
    status=$?
    kill "$watcher" 2>/dev/null || true
    wait "$watcher" 2>/dev/null || true
    if [ -t 2 ]; then printf '\r\033[K' >&2; fi
    if [ "$status" -eq 0 ]; then
        echo "$words: done, $((SECONDS - begun)) s" >&2
    else
        # All but the counting of files that a build gets through.
        grep -avE '^\[[0-9]+/[0-9]+\] ' "$log" >&2 || true
        echo "$words: failed with status $status after $((SECONDS - begun)) s; its output is above" >&2
    fi
    rm -f "$log"
    return "$status"
}

# Until it is ended, or the script is gone.
step_watch() {
    local words=$1 log=$2 begun=$SECONDS spacing=30 last pause
    if [ -t 2 ]; then spacing=1; else echo "$words" >&2; fi
    exec {pause}<> <(:)
    while kill -0 "$$" 2>/dev/null; do
        read -r -t "$spacing" -u "$pause" || true
        last=$(tail -n 1 "$log" 2>/dev/null | tr -d '\r' | cut -c 1-60)
        if [ -t 2 ]; then
            printf '\r\033[K%s: %s s  %s' "$words" "$((SECONDS - begun))" "$last" >&2
        else
            echo "$words: $((SECONDS - begun)) s, at: $last" >&2
        fi
    done
}
