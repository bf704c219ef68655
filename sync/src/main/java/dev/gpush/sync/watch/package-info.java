/**
 * Notices that files of a working tree change: {@link dev.gpush.sync.watch.TreeWatcher} is the
 * port, {@link dev.gpush.sync.watch.WorkspaceWatch} waits for a quiet moment. What it reports are
 * hints; a look at the folders tells what has changed. A thread of the operating system reads
 * events; everything else runs on the thread of the caller.
 */
@NullMarked
package dev.gpush.sync.watch;

import org.jspecify.annotations.NullMarked;
