/**
 * From an ssh user name to a node: {@code Routes} is the port that whoever knows the sessions
 * implements, {@code Connections} opens streams along it, {@code RefusalText} says why not.
 */
@NullMarked
package dev.gpush.gateway.ssh.route;

import org.jspecify.annotations.NullMarked;
