@NullMarked
package dev.gpush.ssh.access;

import org.jspecify.annotations.NullMarked;
