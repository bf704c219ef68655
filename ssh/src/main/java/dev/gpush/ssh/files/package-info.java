/**
 * The files of the SSH server: keys, the port, and the configuration that ssh clients read. All are
 * written whole. They belong to this home only.
 */
@NullMarked
package dev.gpush.ssh.files;

import org.jspecify.annotations.NullMarked;
