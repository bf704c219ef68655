/**
 * What was made, deleted and renamed on the editors' node, and what of it comes home. {@link
 * dev.gpush.sync.home.ChangesThere} decides, by names ({@link dev.gpush.sync.home.OutputNames}),
 * time and limits; what is deleted here is kept by {@link dev.gpush.sync.home.LocalTrash}. Nothing
 * here is thread-safe: the lock of {@code WorkspaceSync} guards it.
 */
@NullMarked
package dev.gpush.sync.home;

import org.jspecify.annotations.NullMarked;
