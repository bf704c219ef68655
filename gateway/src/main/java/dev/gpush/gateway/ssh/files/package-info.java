/**
 * The files of the SSH server: keys, the port, and the configuration that ssh clients read. All are
 * written whole. What is in them concerns this home only.
 */
@NullMarked
package dev.gpush.gateway.ssh.files;

import org.jspecify.annotations.NullMarked;
