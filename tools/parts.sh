# Sourced by scripts that run several parts and end with a table of them:
#   part NAME COMMAND...   runs a part; its output is shown and kept in $logs/NAME.log
#   begin_part NAME COMMAND...   the same beside what follows; its output is shown by end_parts, which waits for all
#                                that began
#   skip NAME WHY          says that a part is not run
#   finish_parts           prints the table and "N passed, N failed"; its status is 0 when nothing failed
# A line with "SKIPPED" in a part's output is repeated below the table.
logs=${logs:-build/logs}
parts_passed=0
parts_failed=0
parts_table=""
parts_skipped=""

parts_begun=()

count_part() { # count_part NAME STATUS START
    local name=$1 verdict=passed
    if [ "$2" = 0 ]; then
        parts_passed=$((parts_passed + 1))
    else
        parts_failed=$((parts_failed + 1))
        verdict=FAILED
    fi
    parts_table+=$(printf '  %-10s %-8s %4d s' "$name" "$verdict" $((SECONDS - $3)))$'\n'
    parts_skipped+=$(grep -E 'SKIPPED|\(Skipped\)' "$logs/$name.log" | sed "s/^ */  $name: /")$'\n'
}

part() {
    local name=$1 start=$SECONDS
    shift
    mkdir -p "$logs"
    printf '\n=== %s: %s\n' "$name" "$*"
    "$@" 2>&1 | tee "$logs/$name.log"
    count_part "$name" "${PIPESTATUS[0]}" "$start"
}

begin_part() {
    local name=$1
    shift
    mkdir -p "$logs"
    "$@" >"$logs/$name.log" 2>&1 &
    parts_begun+=("$! $name $SECONDS")
}

end_parts() {
    local begun process name start status
    for begun in "${parts_begun[@]}"; do
        read -r process name start <<<"$begun"
        wait "$process"
        status=$?
        printf '\n=== %s\n' "$name"
        cat "$logs/$name.log"
        count_part "$name" "$status" "$start"
    done
    parts_begun=()
}

skip() {
    printf '\n=== %s: SKIPPED, %s\n' "$1" "$2"
    parts_table+=$(printf '  %-10s %-8s %s' "$1" SKIPPED "$2")$'\n'
}

finish_parts() {
    printf '\n%s' "$parts_table"
    grep -v '^$' <<<"$parts_skipped" | sort -u | sed '1i Not run:' || true
    echo "$parts_passed passed, $parts_failed failed"
    [ "$parts_failed" = 0 ]
}
