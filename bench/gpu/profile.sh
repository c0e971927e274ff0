#!/bin/sh
# bench/gpu/profile.sh [OP [TYPE [LOG2_BYTES [CONTENDER]]]]: ncu's counters for the kernels of one call, the clocks left
# alone. CONTENDER: plain, cub, tally or fast. Wants what run.sh built in BUILD (build/gpu). More: NCU_MORE='--section
# SourceCounters'.
set -u
cd "$(dirname "$0")/../.." || exit 2
build=${BUILD:-build/gpu}
metrics=gpu__time_duration.sum,dram__throughput.avg.pct_of_peak_sustained_elapsed
metrics=$metrics,dram__bytes_read.sum,dram__bytes_write.sum
metrics=$metrics,lts__t_sector_hit_rate.pct,sm__throughput.avg.pct_of_peak_sustained_elapsed
metrics=$metrics,smsp__issue_active.avg.pct_of_peak_sustained_active,smsp__inst_executed.sum
metrics=$metrics,sm__warps_active.avg.pct_of_peak_sustained_active,launch__registers_per_thread
metrics=$metrics,launch__occupancy_limit_registers,launch__occupancy_limit_shared_mem
metrics=$metrics,launch__grid_size,launch__block_size
exec ncu --clock-control none --profile-from-start off --metrics $metrics ${NCU_MORE:-} \
    "$build/bench_gpu" --once --section whole --op "${1:-sum}" --type "${2:-f32}" --log2-bytes "${3:-30}" \
    --contenders "${4:-tally}" --out /dev/null
