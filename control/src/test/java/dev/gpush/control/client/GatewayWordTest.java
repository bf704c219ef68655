package dev.gpush.control.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GatewayWordTest {
  @ParameterizedTest
  @CsvSource({
    "gateway status, STATUS",
    "gateway stop, STOP",
    "gateway status --json, STATUS",
    "--json gateway status, STATUS",
    "gateway stop --help, NONE",
    "gateway, STATUS",
    "gateway --json, STATUS",
    "gateway -h, NONE",
    "gateway start, NONE",
    "exec gateway stop, NONE",
    "ps, NONE",
  })
  void knowsTheWordsThatStartNoGateway(String line, GatewayWord word) {
    assertEquals(word, GatewayWord.of(List.of(line.split(" ", -1))));
  }
}
