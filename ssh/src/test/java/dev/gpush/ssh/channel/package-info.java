@NullMarked
package dev.gpush.ssh.channel;

import org.jspecify.annotations.NullMarked;
