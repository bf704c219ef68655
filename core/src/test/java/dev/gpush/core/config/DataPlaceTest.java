package dev.gpush.core.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.config.DataPlace.Form;
import dev.gpush.core.config.DataPlace.OwnerName;
import dev.gpush.core.config.DataPlace.Volume;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class DataPlaceTest {
  @ParameterizedTest
  @CsvSource({
    "pvc/datasets, datasets, ''",
    "pvc/datasets:ro, datasets, ''",
    "pvc/data.v2/c4/en, data.v2, /c4/en",
    "pvc/data/c4/, data, /c4",
    "pvc/home-{user}, home-ann-smith, ''",
    "pvc/shared/runs/{user}, shared, /runs/Ann.Smith",
  })
  void isAClaimAndAFolderInIt(String text, String claim, String folder) {
    assertEquals(Optional.empty(), DataPlace.flaw(text, Form.READ));

    Volume volume = (Volume) DataPlace.of(text);

    assertEquals(
        new Volume(claim, folder, text.endsWith(":ro")), volume.of(new OwnerName("Ann.Smith")));
  }

  @ParameterizedTest
  @CsvSource({"ann, /runs/ann", "a/b, /runs/a-b", "., /runs/-", ".., /runs/-."})
  void theOwnersNameStaysOneFolder(String owner, String folder) {
    Volume volume = (Volume) DataPlace.of("pvc/s/runs/{user}");

    assertEquals(folder, volume.of(new OwnerName(owner)).folder());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "pvc/",
        "pvc//c4",
        "pvc/Data",
        "pvc/-data",
        "pvc/data/../x",
        "pvc/data/./x",
        "pvc/data//x",
        "pvc/data:rw",
        "pvc/data:ro/x",
        "pvc/{run}",
        "pvc/data/{run}",
        "pvc/data/a{b",
        "data",
        "/s/{user}"
      })
  void refusesWhatNoClusterHas(String text) {
    assertThrows(IllegalArgumentException.class, () -> DataPlace.of(text));
    assertEquals(true, DataPlace.flaw(text, Form.READ).isPresent());
  }

  @Test
  void whatIsWrittenCannotBeReadOnly() {
    assertEquals(
        Optional.of("is written, so that it cannot be read-only: pvc/shared:ro"),
        DataPlace.flaw("pvc/shared:ro", Form.WRITTEN));
  }

  @Test
  void aHomeIsAVolume() {
    assertEquals(
        Optional.of("must be a volume, such as pvc/home-{user}, not /data/home"),
        DataPlace.flaw("/data/home", Form.VOLUME));
    assertEquals(Optional.empty(), DataPlace.flaw("pvc/home-{user}", Form.VOLUME));
  }
}
