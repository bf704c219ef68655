@NullMarked
package dev.gpush.gateway.ssh.channel;

import org.jspecify.annotations.NullMarked;
