package conversions;

class Integers {
    /** Returns the decimal text of an int. */
    public static String toString(int i) {
        return Integer.toString(i, 10);
    }

    /** Parses the argument as a signed decimal. */
    public static int parseInt(String s) throws NumberFormatException {
        return Integer.parseInt(s, 10);
    }
}

class Streams {
    public static InputStream toInputStream(String input, Charset encoding) {
        return new ByteArrayInputStream(input.getBytes(encoding));
    }

    public static String toString(InputStream input, Charset encoding) throws IOException {
        return new String(input.readAllBytes(), encoding);
    }
}

public class Conversions {
    /** Converts a file path to a URI. */
    public static URI pathToUri(Path path) {
        return path.toAbsolutePath().toUri();
    }

    public static Path uriToPath(URI uri) {
        return Paths.get(uri);
    }

    /** Converts the given Date to a LocalDateTime in the system's zone. */
    public static LocalDateTime asLocalDateTime(Date date) {
        return LocalDateTime.ofInstant(date.toInstant(), ZoneId.systemDefault());
    }

    public static Date asDate(LocalDateTime localDateTime) {
        return Date.from(localDateTime.atZone(ZoneId.systemDefault()).toInstant());
    }

    public String serializeToJson(Person person) {
        return mapper.writeValueAsString(person);
    }

    public Person deserializeFromJson(String json) {
        return mapper.readValue(json, Person.class);
    }

    /** Decodes a bitmap from a Base64 string. */
    public static Bitmap base64ToBitmap(String encoded) {
        byte[] bytes = Base64.decode(encoded, Base64.DEFAULT);
        return BitmapFactory.decodeByteArray(bytes, 0, bytes.length);
    }

    /** Encodes a bitmap as a Base64 string. */
    public static String bitmapToBase64(Bitmap bitmap) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        bitmap.compress(Bitmap.CompressFormat.PNG, 100, out);
        return Base64.encodeToString(out.toByteArray(), Base64.DEFAULT);
    }

    public static int dp2px(Context context, float dpValue) {
        float scale = context.getResources().getDisplayMetrics().density;
        return (int) (dpValue * scale + 0.5f);
    }

    public static int px2dp(Context context, float pxValue) {
        float scale = context.getResources().getDisplayMetrics().density;
        return (int) (pxValue / scale + 0.5f);
    }

    public static <T> List<T> arrayToList(T[] array) {
        return new ArrayList<>(Arrays.asList(array));
    }

    public static Object[] listToArray(List<?> list) {
        return list.toArray();
    }

    public static int[] toPrimitive(Integer[] array) {
        int[] result = new int[array.length];
        for (int i = 0; i < array.length; i++) {
            result[i] = array[i].intValue();
        }
        return result;
    }

    public static Integer[] toObject(int[] array) {
        Integer[] result = new Integer[array.length];
        for (int i = 0; i < array.length; i++) {
            result[i] = Integer.valueOf(array[i]);
        }
        return result;
    }

    /** Reads the properties of a bean into a map. */
    public static Map<String, Object> describe(Object bean) {
        Map<String, Object> map = new HashMap<>();
        for (PropertyDescriptor property : descriptors(bean.getClass())) {
            map.put(property.getName(), property.getReadMethod().invoke(bean));
        }
        return map;
    }

    /** Sets the properties of a bean from a map. */
    public static void populate(Object bean, Map<String, Object> map) {
        for (PropertyDescriptor property : descriptors(bean.getClass())) {
            property.getWriteMethod().invoke(bean, map.get(property.getName()));
        }
    }

    public static Document stringToDocument(String xml) throws Exception {
        return builder().parse(new InputSource(new StringReader(xml)));
    }

    public static String documentToString(Document document) throws TransformerException {
        StringWriter writer = new StringWriter();
        transformer().transform(new DOMSource(document), new StreamResult(writer));
        return writer.toString();
    }
}
