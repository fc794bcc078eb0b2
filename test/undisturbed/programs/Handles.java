// A JVM and its child: ProcessHandle knows a process by its start time. A timed wait, a scheduled task.
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

public class Handles {
    static boolean noticed;

    static void notice(String text) {
        if (!noticed) System.out.println("noticed: " + text);
        noticed = true;
    }

    public static void main(String[] words) throws Exception {
        Process child = new ProcessBuilder("sleep", "1000").start();
        ProcessHandle handle = child.toHandle();
        var began = handle.info().startInstant();
        AtomicInteger ticks = new AtomicInteger();
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        timer.scheduleAtFixedRate(ticks::incrementAndGet, 100, 100, TimeUnit.MILLISECONDS);
        System.out.println("ready");
        do {
            long begin = System.nanoTime(), stops = stoodStill();
            if (new LinkedBlockingQueue<String>().poll(2, TimeUnit.SECONDS) != null) notice("the queue gave something");
            long took = (System.nanoTime() - begin) / 1_000_000;
            if (took > 7000) Thread.sleep(1000);
            if (took < 1990 || took > 7000 + stoodStill() - stops) notice("a wait of 2 s took " + took + " ms");
        } while (!noticed && System.in.available() == 0 && !ended());
        if (!handle.isAlive()) notice("the handle says that the child is gone");
        if (!handle.info().startInstant().equals(began)) notice("the child has another start time");
        if (!ProcessHandle.of(child.pid()).map(handle::equals).orElse(false)) notice("the child is another one");
        if (!handle.destroyForcibly()) notice("the child cannot be ended");
        if (!child.waitFor(5, TimeUnit.SECONDS)) {
            notice("the child does not end");
            new ProcessBuilder("kill", "-9", "" + child.pid()).start();
        }
        if (child.waitFor() != 137) notice("the child ended otherwise");
        if (ticks.get() < 10) notice("the timer stood still");
        if (!noticed) System.out.println("ok");
        System.exit(0);
    }

    // Milliseconds that the whole environment stood still so far, by the watch of launch.c.
    static long stoodStill() throws Exception {
        return Long.parseLong(java.nio.file.Files.readString(java.nio.file.Path.of("../stops")).trim());
    }

    // Whether standard input has ended, without waiting for it.
    static boolean ended() throws Exception {
        return new ProcessBuilder("/bin/bash", "-c", "read -t 0").redirectInput(ProcessBuilder.Redirect.INHERIT).start().waitFor() == 0;
    }
}
