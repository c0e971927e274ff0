# Sourced: $python, the first of these that has NumPy: Debian's, that of the GPU's machine, the caller's.
for python in /usr/bin/python3 /opt/torch/.venv/bin/python3 python3; do
    "$python" -c 'import numpy' 2>/dev/null && break
done
