package demo.services;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;

class Services {
    /** Switches that turn parts of the program on and off. */
    static class Features {
        private final Set<String> on = ConcurrentHashMap.newKeySet();

        /** Turns a feature on. */
        void enable(String feature) {
            if (feature.isEmpty()) {
                throw new IllegalArgumentException("feature without a name");
            }
            on.add(feature.toLowerCase());
        }

        /** Turns a feature off. */
        void disable(String feature) {
            boolean was = on.remove(feature.toLowerCase());
            if (!was) {
                System.err.println(feature + " was off already");
            }
        }
    }

    /** Tells listeners what happened. */
    static class EventBus {
        private final Map<String, List<Consumer<Object>>> listeners = new ConcurrentHashMap<>();

        void subscribe(String topic, Consumer<Object> listener) {
            listeners
                    .computeIfAbsent(topic, t -> new CopyOnWriteArrayList<>())
                    .add(listener);
        }

        void unsubscribe(String topic, Consumer<Object> listener) {
            List<Consumer<Object>> known = listeners.get(topic);
            if (known != null) {
                known.remove(listener);
            }
        }

        /** Hands an event to everyone who listens to a topic. */
        void publish(String topic, Object event) {
            for (Consumer<Object> listener : listeners.getOrDefault(topic, List.of())) {
                try {
                    listener.accept(event);
                } catch (RuntimeException e) {
                    System.err.println("listener failed: " + e);
                }
            }
        }
    }

    /** Opens a database connection that does not commit by itself. */
    static Connection connect(String url, String user, String password) throws SQLException {
        Connection connection = DriverManager.getConnection(url, user, password);
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        return connection;
    }

    static void disconnect(Connection connection) {
        try {
            if (connection != null && !connection.isClosed()) {
                connection.close();
            }
        } catch (SQLException e) {
            System.err.println("while closing: " + e.getMessage());
        }
    }

    /** Runs a piece of work in a transaction: committed as a whole, or rolled back. */
    static void inTransaction(Connection connection, Consumer<Connection> work) throws SQLException {
        try {
            work.accept(connection);
            connection.commit();
        } catch (RuntimeException e) {
            connection.rollback();
            throw e;
        }
    }

    /** Finds the names of customers in a city. */
    static List<String> customersIn(Connection connection, String city) throws SQLException {
        List<String> names = new ArrayList<>();
        try (PreparedStatement query = connection.prepareStatement("SELECT name FROM customer WHERE city = ?")) {
            query.setString(1, city);
            ResultSet rows = query.executeQuery();
            while (rows.next()) {
                names.add(rows.getString(1));
            }
        }
        return names;
    }

    /** Sends a GET request and returns the body; other answers than 200 are errors. */
    static String httpGet(String address) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(address)).GET().build();
        HttpResponse<String> response =
                HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IllegalStateException(address + " answered " + response.statusCode());
        }
        return response.body();
    }

    /** Hashes a password with its salt. */
    static byte[] hashPassword(char[] password, byte[] salt) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update(salt);
        for (char c : password) {
            digest.update((byte) (c >> 8));
            digest.update((byte) c);
        }
        return digest.digest();
    }

    static String randomPassword(int length) {
        String letters = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";
        SecureRandom random = new SecureRandom();
        StringBuilder password = new StringBuilder(length);
        while (password.length() < length) {
            password.append(letters.charAt(random.nextInt(letters.length())));
        }
        return password.toString();
    }

    /** Roughly checks the form of an e-mail address. */
    static boolean isEmail(String address) {
        Pattern form = Pattern.compile("[\\w.+-]+@[\\w-]+(\\.[\\w-]+)+");
        return address != null
                && address.length() <= 254
                && form.matcher(address).matches();
    }

    /** Lets running tasks end, then stops the pool by force. */
    static void shutdownGracefully(ExecutorService pool, long seconds) throws InterruptedException {
        pool.shutdown();
        if (!pool.awaitTermination(seconds, TimeUnit.SECONDS)) {
            List<Runnable> dropped = pool.shutdownNow();
            System.err.println(dropped.size() + " tasks were dropped");
        }
    }
}
