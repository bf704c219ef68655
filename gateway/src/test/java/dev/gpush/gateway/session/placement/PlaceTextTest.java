package dev.gpush.gateway.session.placement;

import dev.gpush.testkit.text.FailureSamples;
import dev.gpush.testkit.text.PlainEnglish;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

final class PlaceTextTest {
  @TestFactory
  List<DynamicTest> everyFailureIsTheRestOfASentence() {
    var tests = new ArrayList<DynamicTest>();
    for (Class<?> record : FailureSamples.records()) {
      for (boolean full : List.of(true, false)) {
        tests.add(
            DynamicTest.dynamicTest(
                record.getSimpleName() + (full ? " full" : " empty"),
                () ->
                    PlainEnglish.checkSentence(
                        "rack " + PlaceText.failed(FailureSamples.of(record, full)))));
      }
    }
    return tests;
  }
}
