/**
 * Reads and merges what the nodes' supervisors write (docs/technical/runs.md): {@code
 * JournalReader} follows one node over any number of streams, {@code RunJournal} parses the bytes,
 * {@code RunMerge} makes one output of all nodes, {@code TransportVerdict} names the network that
 * was used.
 */
@NullMarked
package dev.gpush.launch.journal;

import org.jspecify.annotations.NullMarked;
