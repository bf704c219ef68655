package dev.gpush.control.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GatewayLaunchTest {
  @TempDir private Path folder;

  @Test
  void findsTheProgramsOfHomebrewThatADesktopsPathLacks() throws IOException {
    Path none = Files.createDirectory(folder.resolve("none"));
    Path homebrew = Files.createDirectory(folder.resolve("homebrew"));
    assertTrue(Files.createFile(homebrew.resolve("brew")).toFile().setExecutable(true));
    List<Path> places = List.of(none, homebrew);

    assertEquals("/usr/bin:/bin:" + homebrew, GatewayLaunch.path("/usr/bin:/bin", places));
    assertEquals(homebrew + ":/bin", GatewayLaunch.path(homebrew + ":/bin", places));
  }

  @Test
  void keepsWhatNamesTheUserProxiesAndAccounts() {
    List<String> kept =
        List.of(
            ("HOME PATH LC_CTYPE SSH_AUTH_SOCK KUBECONFIG HTTPS_PROXY https_proxy NO_PROXY no_proxy"
                    + " HTTP_PROXY http_proxy AWS_PROFILE AWS_CONFIG_FILE AWS_REGION"
                    + " CLOUDSDK_CONFIG GPUSH_GATEWAY_FLAGS GPUSH_LC_ALL")
                .split(" "));

    assertEquals(kept, kept.stream().filter(GatewayLaunch::isKept).toList());
  }

  @Test
  void keepsNoSecretAndNothingOfTheTerminal() {
    List<String> left =
        List.of(
            ("AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN HF_TOKEN LD_LIBRARY_PATH"
                    + " VIRTUAL_ENV PYTHONPATH TERM CUDA_VISIBLE_DEVICES GPUSH_SESSION")
                .split(" "));

    assertEquals(List.of(), left.stream().filter(GatewayLaunch::isKept).toList());
  }
}
