package demo.io;

import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Properties;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/** File tools. */
class Files {
    /** Reads the whole of a stream as UTF-8 text. */
    static String readAll(InputStream in) throws IOException {
        ByteArrayOutputStream collected = new ByteArrayOutputStream();
        byte[] buffer = new byte[8192];
        int count;
        while ((count = in.read(buffer)) != -1) {
            collected.write(buffer, 0, count);
        }
        return collected.toString(StandardCharsets.UTF_8);
    }

    /** Serializes an object into bytes. */
    static byte[] serialize(Serializable object) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(object);
        }
        return bytes.toByteArray();
    }

    /** Brings back an object from its serialized bytes. */
    static <T> T deserialize(byte[] bytes, Class<T> type) throws IOException {
        try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes))) {
            return type.cast(in.readObject());
        } catch (ClassNotFoundException e) {
            throw new IOException("unknown class in stream", e);
        }
    }

    /** Zips files, each under its own name. */
    static void zip(Path archive, Iterable<Path> files) throws IOException {
        try (ZipOutputStream out = new ZipOutputStream(new FileOutputStream(archive.toFile()))) {
            for (Path file : files) {
                out.putNextEntry(new ZipEntry(file.getFileName().toString()));
                java.nio.file.Files.copy(file, out);
                out.closeEntry();
            }
        }
    }

    static void unzip(Path archive, Path folder) throws IOException {
        try (ZipInputStream in = new ZipInputStream(new FileInputStream(archive.toFile()))) {
            for (ZipEntry entry; (entry = in.getNextEntry()) != null; ) {
                Path target = folder.resolve(entry.getName()).normalize();
                if (!target.startsWith(folder)) {
                    throw new IOException("entry leaves the folder: " + entry.getName());
                }
                java.nio.file.Files.copy(in, target);
            }
        }
    }

    /** Removes a folder with everything in it. */
    static void deleteRecursively(Path folder) throws IOException {
        java.nio.file.Files.walkFileTree(folder, new SimpleFileVisitor<Path>() {
            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
                java.nio.file.Files.delete(file);
                return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult postVisitDirectory(Path dir, IOException problem) throws IOException {
                java.nio.file.Files.delete(dir);
                return FileVisitResult.CONTINUE;
            }
        });
    }

    /** Counts lines without keeping them. */
    static long countLines(Path file) throws IOException {
        long lines = 0;
        try (BufferedReader reader = java.nio.file.Files.newBufferedReader(file)) {
            while (reader.readLine() != null) {
                lines++;
            }
        }
        return lines;
    }

    static Properties loadProps(Path path) throws IOException {
        Properties props = new Properties();
        try (InputStream in = java.nio.file.Files.newInputStream(path)) {
            props.load(in);
        }
        return props;
    }

    static void storeProps(Properties props, Path path) throws IOException {
        try (var out = java.nio.file.Files.newBufferedWriter(path)) {
            props.store(out, "written by Files.storeProps");
        }
    }

    /** The part of a file name after its last dot, in lower case. */
    static String extension(String name) {
        int dot = name.lastIndexOf('.');
        if (dot <= 0 || dot == name.length() - 1) {
            return "";
        }
        return name.substring(dot + 1).toLowerCase();
    }
}
