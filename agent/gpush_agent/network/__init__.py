"""Which network the ranks of a run really use, from what NCCL logs and from counters of network devices."""
