/**
 * What the nodes' supervisors write (docs/technical/runs.md), read and merged: {@code
 * JournalReader} follows one node over any number of streams, {@code RunJournal} takes the bytes
 * apart, {@code RunMerge} makes one output of all nodes.
 */
@NullMarked
package dev.gpush.launch.journal;

import org.jspecify.annotations.NullMarked;
