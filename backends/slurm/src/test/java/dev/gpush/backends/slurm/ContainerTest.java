package dev.gpush.backends.slurm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Images by their names, and what srun is asked for them. */
final class ContainerTest {
  @ParameterizedTest(name = "{0}")
  @CsvSource({
    "nvcr.io/nvidia/pytorch:25.10-py3, nvcr.io#nvidia/pytorch:25.10-py3",
    "docker://nvcr.io/nvidia/pytorch, nvcr.io#nvidia/pytorch",
    "localhost/train, localhost#train",
    "registry:5000/train, registry:5000#train",
    "nvcr.io#nvidia/pytorch:25.10-py3, nvcr.io#nvidia/pytorch:25.10-py3",
    "ubuntu, ubuntu",
    "ubuntu:24.04, ubuntu:24.04",
    "docker://ubuntu, ubuntu",
    "pytorch/pytorch:2.8, pytorch/pytorch:2.8",
    "/lab/images/train.sqsh, /lab/images/train.sqsh",
    "images.v2/train.sqsh, images.v2/train.sqsh",
  })
  void names(String written, String ofPyxis) {
    assertEquals(ofPyxis, Container.of(Json.object("image", written)).orElseThrow().image());
  }

  @Test
  void aProjectsOwnImageCountsBeforeTheBackends() {
    var usual = new Container("ubuntu", List.of("/data:/data"));

    assertEquals(Optional.of(usual), Container.of(Optional.empty(), Optional.of(usual)));
    assertEquals(
        Optional.of(new Container("ghcr.io#acme/train", List.of("/data:/data"))),
        Container.of(Optional.of("ghcr.io/acme/train"), Optional.of(usual)));
    assertEquals(
        Optional.of(new Container("ubuntu:24.04", List.of())),
        Container.of(Optional.of("ubuntu:24.04"), Optional.empty()));
    assertEquals(Optional.empty(), Container.of(Optional.empty(), Optional.empty()));
  }

  @Test
  void whatTheNodeHasIsSeenInside() {
    var container = new Container("ubuntu", List.of("/data:/data:ro"));

    List<String> options = container.options("/home/ann/gpush/1");

    assertTrue(
        options.contains(
            "--container-mounts=/tmp:/tmp,/home/ann/gpush/1:/home/ann/gpush/1,/data:/data:ro"),
        options::toString);
    assertTrue(Container.of(Json.object()).isEmpty());
  }
}
