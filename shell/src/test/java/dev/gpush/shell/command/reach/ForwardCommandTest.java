package dev.gpush.shell.command.reach;

import dev.gpush.core.gang.GpuRequest;
import dev.gpush.shell.command.Desk;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What users type and read. */
final class ForwardCommandTest {
  private final Desk desk = new Desk();

  @BeforeEach
  void begin() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
  }

  @Test
  void aPortIsForwardedShownAndRemoved() {
    desk.expect(
        """
        $ gpush forward
        2> no port of devbox is forwarded
        $ gpush forward 8888 1:8000
        http://localhost:8888 is port 8888 of node 0
        http://localhost:8001 is port 8000 of node 1
        $ gpush forward all:6006
        http://localhost:6006 is port 6006 of node 0
        http://localhost:6007 is port 6006 of node 1
        $ gpush forward 8888 --local 9000
        http://localhost:9000 is port 8888 of node 0
        $ gpush forward --remove 6006 6007 8001 9000
        2> port 6006 is no longer forwarded
        2> port 6007 is no longer forwarded
        2> port 8001 is no longer forwarded
        2> port 9000 is no longer forwarded
        $ gpush forward
        http://localhost:8888 is port 8888 of node 0
        """);
  }

  @Test
  void whatCannotBeIsRefused() {
    desk.expect(
        """
        $ gpush forward 70000
        2> gpush: PORT cannot be '70000'
        2>   because it must be PORT, NODE:PORT or all:PORT, with ports from 1 to 65535
        2>   try: gpush help forward
        ? 2
        $ gpush forward 8888:80:80
        2> gpush: PORT cannot be '8888:80:80'
        2>   because it must be PORT, NODE:PORT or all:PORT, with ports from 1 to 65535
        2>   try: gpush help forward
        ? 2
        $ gpush forward all:80 --local 9000
        2> gpush: gpush forward was not run
        2>   because --local is for one port of one node
        2>   try: gpush help forward
        ? 2
        $ gpush forward --remove 8888
        2> gpush: gpush forward was not run
        2>   because no port 8888 of this machine is forwarded
        2>   try: gpush help forward
        ? 2
        """);
  }
}
