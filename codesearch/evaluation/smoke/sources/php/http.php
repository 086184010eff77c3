<?php

/** Encode a text for a URL. */
function url_encode_segment(string $text): string
{
    $encoded = rawurlencode($text);
    $allowed = ['%40' => '@', '%3A' => ':', '%24' => '$'];
    return strtr($encoded, $allowed);
}

/** Decode a part of a URL and repair text that is not UTF-8. */
function url_decode_segment(string $segment): string
{
    $text = rawurldecode($segment);
    if (!mb_check_encoding($text, 'UTF-8')) {
        $text = mb_convert_encoding($text, 'UTF-8', 'ISO-8859-1');
    }
    return $text;
}

/** Query string of an array, with sorted keys so that equal requests look equal. */
function build_query(array $params): string
{
    $params = array_filter($params, fn ($value) => $value !== null);
    ksort($params);
    return http_build_query($params, '', '&', PHP_QUERY_RFC3986);
}

/** Array of a query string, dots in names left alone. */
function parse_query(string $query): array
{
    $result = [];
    foreach (explode('&', ltrim($query, '?')) as $pair) {
        [$name, $value] = array_map('urldecode', explode('=', $pair, 2) + [1 => '']);
        if ($name !== '') {
            $result[$name] = $value;
        }
    }
    return $result;
}

function add_trailing_slash(string $path): string
{
    if ($path === '' || str_contains(basename($path), '.')) {
        return $path;
    }
    return rtrim($path, '/') . '/';
}

function remove_trailing_slash(string $path): string
{
    $short = rtrim($path, "/\\");
    if ($short === '') {
        return '/';
    }
    return $short;
}

/** Send the browser elsewhere and end the script. */
function redirect(string $url, int $status = 302): never
{
    if (headers_sent($file, $line)) {
        throw new LogicException("output began in {$file}:{$line}");
    }
    header('Location: ' . $url, true, $status);
    exit;
}

/** Answer with JSON. */
function json_response($data, int $status = 200): void
{
    http_response_code($status);
    header('Content-Type: application/json');
    echo json_encode($data, JSON_THROW_ON_ERROR | JSON_UNESCAPED_UNICODE);
}

/** Fetch a page with curl, following redirects. */
function curl_get(string $url, int $timeout = 10): string
{
    $handle = curl_init($url);
    curl_setopt_array($handle, [
        CURLOPT_RETURNTRANSFER => true,
        CURLOPT_FOLLOWLOCATION => true,
        CURLOPT_TIMEOUT => $timeout,
    ]);
    $body = curl_exec($handle);
    if ($body === false) {
        throw new RuntimeException(curl_error($handle));
    }
    return $body;
}

/** Move an uploaded file to the media folder under a safe name. */
function store_upload(array $upload, string $folder): string
{
    if ($upload['error'] !== UPLOAD_ERR_OK) {
        throw new RuntimeException("upload error {$upload['error']}");
    }
    $extension = strtolower(pathinfo($upload['name'], PATHINFO_EXTENSION));
    $name = bin2hex(random_bytes(8)) . '.' . preg_replace('/\W/', '', $extension);
    move_uploaded_file($upload['tmp_name'], "{$folder}/{$name}");
    return $name;
}

/** Find the handler of a request by the patterns of the routes. */
function dispatch(array $routes, string $method, string $path)
{
    foreach ($routes as [$verb, $pattern, $handler]) {
        $regex = '#^' . preg_replace('/\{(\w+)\}/', '(?<$1>[^/]+)', $pattern) . '$#';
        if ($verb === $method && preg_match($regex, $path, $match)) {
            return $handler(...array_filter($match, 'is_string', ARRAY_FILTER_USE_KEY));
        }
    }
    return json_response(['error' => 'not found'], 404);
}
