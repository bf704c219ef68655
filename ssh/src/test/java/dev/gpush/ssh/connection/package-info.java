@NullMarked
package dev.gpush.ssh.connection;

import org.jspecify.annotations.NullMarked;
