/**
 * The record of who was connected to which node, and through which channels: {@code AuditTrail}
 * hears of connections and channels, {@code AuditFile} writes on a thread of its own. No byte of
 * any channel is kept here, and no connection waits for the disk.
 */
@NullMarked
package dev.gpush.ssh.audit;

import org.jspecify.annotations.NullMarked;
