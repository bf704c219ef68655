package dev.gpush.architecture;

import static com.tngtech.archunit.base.DescribedPredicate.alwaysFalse;
import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaPackage;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import java.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The borders between the parts. Maven already keeps a module off the class path of one that does
 * not declare it; these tests also hold within a module, and for libraries that arrive through
 * another module.
 *
 * <p>The rules about threads, time, environment and streams are for the code we ship: testkit is
 * free of them, because its rigs stand where the real world does.
 */
final class ArchitectureTest {
  private static final String ROOT = "dev.gpush";

  /** The modules of gpush that each module may use. Bench is not on the class path here. */
  private static final Map<String, Set<String>> MAY_USE =
      Map.ofEntries(
          Map.entry("core", Set.of()),
          Map.entry("link", Set.of("core")),
          Map.entry("templates", Set.of("core")),
          Map.entry("control", Set.of("core")),
          Map.entry("sync", Set.of("core", "link")),
          Map.entry("launch", Set.of("core", "link")),
          Map.entry("ssh", Set.of("core", "link")),
          Map.entry("gateway", Set.of("core", "link", "sync", "launch", "ssh")),
          Map.entry("backends", Set.of("core", "templates")),
          Map.entry("shell", Set.of("core", "control")),
          Map.entry(
              "app",
              Set.of(
                  "core",
                  "link",
                  "templates",
                  "control",
                  "sync",
                  "launch",
                  "gateway",
                  "ssh",
                  "backends",
                  "shell")),
          Map.entry("testkit", Set.of("core", "link")));

  /** Far below what there is: it only tells that the import did not miss the code. */
  private static final int FEWEST_CLASSES = 30;

  /** What one can have in view at once. */
  private static final long MOST_TYPES = 15;

  private static final JavaClasses CLASSES =
      new ClassFileImporter()
          .withImportOption(location -> !location.contains("/test-classes/"))
          .importPackages(ROOT);

  private static final DescribedPredicate<JavaClass> SHIPPED = not(in("testkit"));

  static Stream<String> modules() {
    return MAY_USE.keySet().stream().sorted();
  }

  @Test
  void seesEveryModule() {
    var seen = new TreeSet<String>();
    CLASSES.forEach(type -> seen.add(type.getPackageName().split("\\.")[2]));

    assertEquals(new TreeSet<>(MAY_USE.keySet()), seen);
    assertTrue(CLASSES.size() >= FEWEST_CLASSES, () -> "only " + CLASSES.size() + " classes seen");
  }

  @ParameterizedTest
  @MethodSource("modules")
  void usesOnlyTheModulesBelow(String module) {
    Set<String> allowed = MAY_USE.getOrDefault(module, Set.of());
    String[] foreign =
        modules()
            .filter(other -> !other.equals(module) && !allowed.contains(other))
            .map(other -> ROOT + "." + other + "..")
            .toArray(String[]::new);

    check(
        noClasses()
            .that(in(module))
            .should()
            .dependOnClassesThat(resideInAnyPackage(foreign))
            .because(module + " may use " + (allowed.isEmpty() ? "none" : allowed)));
  }

  @Test
  void backendsDoNotSeeEachOther() {
    DescribedPredicate<JavaClass> shared = in("backends.transport").or(in("backends.remote"));
    check(
        slices()
            .matching(ROOT + ".backends.(*)..")
            .should()
            .notDependOnEachOther()
            .ignoreDependency(not(shared), shared));
  }

  @Test
  void kubernetesNeedsNoSsh() {
    check(
        noClasses()
            .that(in("backends.kubernetes"))
            .should()
            .dependOnClassesThat(in("backends.transport")));
  }

  @Test
  void yamlIsReadByNoBackendButKubernetes() {
    check(
        noClasses()
            .that(in("backends"))
            .and(not(in("backends.kubernetes")))
            .should()
            .dependOnClassesThat(in("templates")));
  }

  @Test
  void packagesHaveNoCycles() {
    check(slices().matching(ROOT + ".(**)").should().beFreeOfCycles());
  }

  @Test
  void everyPackageIsNullMarked() {
    List<String> unmarked =
        CLASSES.stream()
            .map(JavaClass::getPackage)
            .distinct()
            .filter(javaPackage -> !javaPackage.isAnnotatedWith(NullMarked.class))
            .map(JavaPackage::getName)
            .sorted()
            .toList();

    assertEquals(List.of(), unmarked, "packages whose package-info lacks @NullMarked");
  }

  @Test
  void packagesAreSmall() {
    Map<String, Long> large = new TreeMap<>(typesPer(JavaClass::getPackageName));
    large.values().removeIf(types -> types <= MOST_TYPES);

    assertEquals(Map.of(), large, "packages with more than " + MOST_TYPES);
  }

  @Test
  void eachNameIsOfOneType() {
    Map<String, Long> often = new TreeMap<>(typesPer(JavaClass::getSimpleName));
    often.values().removeIf(types -> types == 1);

    assertEquals(Map.of(), often, "names that several types have");
  }

  private static Map<String, Long> typesPer(Function<JavaClass, String> key) {
    return CLASSES.stream()
        .filter(JavaClass::isTopLevelClass)
        .filter(type -> !type.getSimpleName().equals("package-info"))
        .collect(Collectors.groupingBy(key, Collectors.counting()));
  }

  @Test
  void sshServerLibraryStaysInItsModule() {
    keeps("org.apache.sshd..", in("ssh"));
  }

  @Test
  void sshClientLibraryStaysInItsTransport() {
    keeps("net.schmizz..", in("backends.transport.builtin"));
    keeps("com.hierynomus..", in("backends.transport.builtin"));
  }

  @Test
  void kubernetesLibrariesStayInTheirBackend() {
    keeps("io.fabric8..", in("backends.kubernetes"));
    keeps("okhttp3..", in("backends.kubernetes"));
  }

  @Test
  void onlyTheParserOfTheYamlLibraryIsUsedAndOnlyByItsReader() {
    keeps("com.fasterxml.jackson..", in("templates.yaml"));
    keeps("com.fasterxml.jackson.databind..", alwaysFalse());
    keeps("org.yaml.snakeyaml..", alwaysFalse());
  }

  @Test
  void commandLineLibraryStaysInShell() {
    keeps("picocli..", in("shell"));
  }

  @Test
  void terminalLibraryStaysInShell() {
    keeps("org.jline..", in("shell"));
  }

  @Test
  void loggingHandlersAreSetUpInAppOnly() {
    keeps("java.util.logging..", in("app"));
  }

  @Test
  void onlyProcessEndsUseTheStandardStreams() {
    check(
        noClasses()
            .that(SHIPPED)
            .and(not(in("app").or(in("control"))))
            .should()
            .accessTargetWhere(
                accesses("standard streams", System.class, Set.of("in", "out", "err"))));
  }

  @Test
  void onlyProcessEndsExit() {
    check(
        noClasses()
            .that(SHIPPED)
            .and(not(in("app").or(in("control"))))
            .should()
            .accessTargetWhere(
                accesses("exit", System.class, Set.of("exit"))
                    .or(accesses("exit", Runtime.class, Set.of("exit", "halt")))));
  }

  @Test
  void onlyProcessEndsReadTheEnvironment() {
    check(
        noClasses()
            .that(SHIPPED)
            .and(not(in("app").or(in("control"))))
            .should()
            .accessTargetWhere(accesses("environment", System.class, Set.of("getenv"))));
  }

  @Test
  void threadsComeFromTasks() {
    check(
        noClasses()
            .that(SHIPPED)
            // The threads of a process's own beginning and end cannot be a group's.
            .and(not(in("control").or(named("app", "Main")).or(named("core.task", "Tasks"))))
            .should()
            .accessTargetWhere(
                accesses(
                        "thread",
                        Thread.class,
                        Set.of("<init>", "ofVirtual", "ofPlatform", "startVirtualThread"))
                    .or(
                        describe(
                            "thread pool",
                            access -> THREAD_POOLS.contains(access.getTargetOwner().getName())))));
  }

  @Test
  void timeComesFromTheClockPort() {
    check(
        noClasses()
            .that(SHIPPED)
            .and(
                // The two ends of the control socket start before anything is built, and wait for
                // each other.
                not(
                    in("control")
                        .or(named("app", "Main", "GatewayProcess"))
                        .or(named("core.task", "SystemClock"))))
            .should()
            .accessTargetWhere(
                accesses("time", System.class, Set.of("currentTimeMillis", "nanoTime"))
                    .or(
                        accesses(
                            "time",
                            Clock.class,
                            Set.of("system", "systemUTC", "systemDefaultZone")))
                    .or(
                        describe(
                            "now",
                            access ->
                                access.getTargetOwner().getPackageName().equals("java.time")
                                    && access.getTarget().getName().equals("now")))));
  }

  private static final Set<String> THREAD_POOLS =
      Set.of(
          "java.util.Timer",
          "java.util.concurrent.Executors",
          "java.util.concurrent.ForkJoinPool",
          "java.util.concurrent.ScheduledThreadPoolExecutor",
          "java.util.concurrent.ThreadPoolExecutor");

  private static void keeps(String library, DescribedPredicate<JavaClass> home) {
    check(
        noClasses()
            .that(SHIPPED)
            .and(not(home))
            .should()
            .dependOnClassesThat(resideInAPackage(library)));
  }

  /** A rule about code that is still to come passes; seesEveryModule guards against seeing none. */
  private static void check(ArchRule rule) {
    rule.allowEmptyShould(true).check(CLASSES);
  }

  private static DescribedPredicate<JavaClass> in(String part) {
    return resideInAPackage(ROOT + "." + part + "..");
  }

  /** These top level classes, and what is nested in them. */
  private static DescribedPredicate<JavaClass> named(String part, String... simpleNames) {
    Set<String> names = Set.of(simpleNames);
    return describe(
        "are " + names + " of " + part,
        type ->
            type.getPackageName().equals(ROOT + "." + part)
                && names.contains(
                    type.getName()
                        .substring(type.getPackageName().length() + 1)
                        .replaceAll("\\$.*", "")));
  }

  private static DescribedPredicate<JavaAccess<?>> accesses(
      String what, Class<?> owner, Set<String> members) {
    return describe(
        what,
        access ->
            access.getTargetOwner().isEquivalentTo(owner)
                && members.contains(access.getTarget().getName()));
  }
}
