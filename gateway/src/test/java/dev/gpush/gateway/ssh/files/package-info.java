@NullMarked
package dev.gpush.gateway.ssh.files;

import org.jspecify.annotations.NullMarked;
