// Holds state in threads and in a heap that is constantly collected; verifies it on demand.
// Lines: check, mark WORD, marks, say TEXT.

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

public class JavaProgram {
    static final int WORKERS = 10;
    static final AtomicLong ticks = new AtomicLong();
    static final Map<Integer, String> heap = new ConcurrentHashMap<>();
    static final List<Worker> workers = new ArrayList<>();

    /** Adds what comes in to a sum that only it has. */
    static class Worker extends Thread {
        final SynchronousQueue<Integer> in = new SynchronousQueue<>();
        final SynchronousQueue<Integer> out = new SynchronousQueue<>();

        @Override
        public void run() {
            int sum = 0;
            try {
                while (true) {
                    sum += in.take();
                    out.put(sum);
                }
            } catch (InterruptedException end) {
                return;
            }
        }

        int add(int n) throws InterruptedException {
            in.put(n);
            return out.take();
        }
    }

    static void churn() {
        try {
            while (true) {
                List<byte[]> garbage = new ArrayList<>();
                for (int i = 0; i < 200; i++) garbage.add(new byte[16384]);
                Thread.sleep(10);
            }
        } catch (InterruptedException end) {
            return;
        }
    }

    static long collections() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .mapToLong(GarbageCollectorMXBean::getCollectionCount).sum();
    }

    static String check() throws InterruptedException {
        for (int i = 0; i < WORKERS; i++) {
            int sum = workers.get(i).add(0);
            if (sum != i) return "thread " + i + " has " + sum;
        }
        for (int i = 0; i < 20000; i++) {
            if (!("value " + i).equals(heap.get(i))) return "heap " + i + " is " + heap.get(i);
        }
        long ticked = ticks.get();
        long collected = collections();
        for (int i = 0; i < 500; i++) {
            if (ticks.get() > ticked && collections() > collected) return "OK";
            Thread.sleep(10);
            if (i % 10 == 9) System.gc();
        }
        return "timers or the collector stand still";
    }

    public static void main(String[] args) throws Exception {
        for (int i = 0; i < 20000; i++) heap.put(i, "value " + i);
        for (int i = 0; i < WORKERS; i++) {
            Worker worker = new Worker();
            worker.setDaemon(true);
            worker.start();
            worker.add(i);
            workers.add(worker);
        }
        var timer = Executors.newSingleThreadScheduledExecutor();
        timer.scheduleAtFixedRate(ticks::incrementAndGet, 10, 10, TimeUnit.MILLISECONDS);
        Thread churning = new Thread(JavaProgram::churn);
        churning.setDaemon(true);
        churning.start();

        List<String> marks = new ArrayList<>();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ", 2);
            switch (words[0]) {
                case "check" -> System.out.println(check());
                case "mark" -> marks.add(words[1]);
                case "marks" -> System.out.println(String.join(" ", marks));
                case "say" -> System.out.println(words[1]);
                default -> { }
            }
        }
    }
}
