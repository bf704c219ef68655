@NullMarked
package dev.gpush.gateway.ssh.access;

import org.jspecify.annotations.NullMarked;
