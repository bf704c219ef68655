/**
 * One node's copy of the workspace: {@code NodeConversation} speaks with its {@code files} program
 * (docs/technical/sync.md), {@code NodeHolds} is what it has, {@code SyncPlan} what has to happen
 * there. For one thread at a time.
 */
@NullMarked
package dev.gpush.sync.node;

import org.jspecify.annotations.NullMarked;
