package dev.gpush.core.gang;

/** What can be borrowed: as many nodes as run under a name, and what each of them has. */
public record Loan(int nodes, GpuRequest gpus) {}
