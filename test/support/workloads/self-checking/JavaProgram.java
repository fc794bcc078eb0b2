// Constantly allocates, frees and checks; argument: where to report.
// The report holds "rounds N", or "stale ..." and then the program has ended.

import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;

public class JavaProgram {
    static Path path;
    static final Map<Integer, String> lasting = new HashMap<>();
    static final Map<Integer, byte[]> blocks = new HashMap<>();
    static final Random random = new Random(7);

    static void report(String text) throws Exception {
        Path draft = Path.of(path + ".new");
        Files.writeString(draft, text + "\n");
        Files.move(draft, path, StandardCopyOption.ATOMIC_MOVE);
    }

    static void check(boolean condition, String what) throws Exception {
        if (condition) return;
        report("stale " + what);
        Runtime.getRuntime().halt(1);
    }

    static boolean isFilled(byte[] bytes, byte value) {
        for (byte b : bytes) if (b != value) return false;
        return true;
    }

    static void work(int round) throws Exception {
        for (int i = 0; i < 50; i++) {
            byte[] block = new byte[1 + random.nextInt(i % 3 == 0 ? 400_000 : 4000)];
            check(isFilled(block, (byte) 0), "an array of zeros");
            Arrays.fill(block, (byte) i);
            blocks.put(i, block);
            for (Object object : new Object[random.nextInt(3000)]) check(object == null, "an array of nothing");
        }
        for (var entry : blocks.entrySet()) check(isFilled(entry.getValue(), entry.getKey().byteValue()), "a block");
        ByteBuffer direct = ByteBuffer.allocateDirect(500_000);
        while (direct.hasRemaining()) check(direct.get() == 0, "a buffer of zeros");
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < 20000; i++) text.append(i % 10);
        check(text.charAt(12345) == '5', "a text");
        for (var entry : lasting.entrySet()) check(entry.getValue().equals("value " + entry.getKey()), "a value");
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) (threads[i] = new Thread(() -> new HashMap<>(lasting))).start();
        for (Thread thread : threads) thread.join();
        if (round % 3 == 0) {
            blocks.clear();
            System.gc();
        }
    }

    public static void main(String[] arguments) throws Exception {
        path = Path.of(arguments[0]);
        for (int i = 0; i < 20000; i++) lasting.put(i, "value " + i);
        for (int round = 0; ; round++) {
            long began = System.nanoTime();
            work(round);
            report("rounds " + (round + 1));
            // Many of these run at the same time: none takes more than a tenth of a core.
            Thread.sleep(Math.min(2000, 9 * (System.nanoTime() - began) / 1_000_000));
        }
    }
}
