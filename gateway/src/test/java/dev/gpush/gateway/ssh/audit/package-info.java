@NullMarked
package dev.gpush.gateway.ssh.audit;

import org.jspecify.annotations.NullMarked;
