/**
 * File sync as pure steps over snapshots: scan, plan, stage, commit (docs/technical/sync.md).
 *
 * <p>{@link dev.gpush.sync.scan.TreeScan} turns the working tree into a {@link
 * dev.gpush.sync.tree.Manifest}, {@link dev.gpush.sync.node.SyncPlan} compares it with what a node
 * holds, {@link dev.gpush.sync.WorkspaceSync} moves all nodes or none. Values are immutable; {@code
 * WorkspaceSync} is thread-safe and does one thing at a time; the rest belongs to the thread that
 * works for it.
 */
@NullMarked
package dev.gpush.sync;

import org.jspecify.annotations.NullMarked;
