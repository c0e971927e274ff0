"""The matrix of measured cells: operator x type x accuracy x segmentation x data.

bench/matrix measures it on the CPU, bench/gpu/matrix on a GPU.

    axes.py              what there is, and in which order it is measured
    values.py, lengths.py   the input
    calls.py             a cell as a call of Tally
    run.py, keep.py      the loop, which has a limit of time, and the input that it keeps
    report.py, svg.py    what is made of the records
"""
