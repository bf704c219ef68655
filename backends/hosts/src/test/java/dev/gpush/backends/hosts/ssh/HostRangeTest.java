package dev.gpush.backends.hosts.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import org.junit.jupiter.api.Test;

final class HostRangeTest {
  @Test
  void rangesAreWrittenOut() {
    assertEquals(List.of("h1"), HostRange.names("h1"));
    assertEquals(
        List.of("gpu01.lab", "gpu02.lab", "gpu07.lab"), HostRange.names("gpu[01-02,07].lab"));
    assertEquals(
        List.of("ann@r1n8:22", "ann@r1n9:22", "ann@r1n10:22"),
        HostRange.names("ann@r[1]n[8-10]:22"));
    assertThrows(IllegalArgumentException.class, () -> HostRange.names("h[5-1]"));
    assertThrows(IllegalArgumentException.class, () -> HostRange.names("h[1-99999]"));
    assertEquals(List.of("[fe80::1]:22"), HostRange.names("[fe80::1]:22"));
  }
}
