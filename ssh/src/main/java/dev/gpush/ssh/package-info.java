/**
 * The gateway's SSH server, on 127.0.0.1. Every node of every session is a host, so that any ssh
 * client and any editor works with it.
 *
 * <p>A connection passes a chain of small parts: limits ({@link dev.gpush.ssh.socket.Logins},
 * {@link dev.gpush.ssh.connection.ClientLimits}), the home's key, route ({@link
 * dev.gpush.ssh.connection.Routes}: the user name picks the node), kind of channel ({@link
 * dev.gpush.ssh.channel.SessionChannel}, {@link dev.gpush.ssh.channel.DialChannel}, {@link
 * dev.gpush.ssh.channel.ReturnChannel}), and a stream of the node's link ({@link
 * dev.gpush.ssh.channel.Inlet} and {@link dev.gpush.ssh.channel.Outlet} connect the two). {@link
 * dev.gpush.ssh.SshGateway} puts it together; {@link dev.gpush.ssh.files.SshConfigFiles} writes
 * what ssh clients read.
 *
 * <p>Threads: SSHD calls from the two threads of a connection and a link from its reading thread;
 * nothing here blocks them. Only routes are looked up on their own virtual threads.
 */
@NullMarked
package dev.gpush.ssh;

import org.jspecify.annotations.NullMarked;
