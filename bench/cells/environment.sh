# Sourced: finds the library that is measured, under $root, unless TALLY_LIBRARY names it.
if [ -z "${TALLY_LIBRARY-}" ]; then
    for library in "$root/build/dev/libtally.so.0" "$root/build/libtally.so"; do
        [ -f "$library" ] && TALLY_LIBRARY=$library && break
    done
fi
if [ -z "${TALLY_LIBRARY-}" ]; then
    echo "$0: no libtally.so under $root/build; build it, or name it in TALLY_LIBRARY" >&2
    exit 2
fi
export TALLY_LIBRARY PYTHONUNBUFFERED=1
