<?php

namespace Demo;

class Security
{
    /** @var array<string, string[]> */
    private array $permissions = [];

    /** Encrypt a secret with a key; the nonce is put in front. */
    public static function encrypt(string $plain, string $key): string
    {
        $nonce = random_bytes(SODIUM_CRYPTO_SECRETBOX_NONCEBYTES);
        $sealed = sodium_crypto_secretbox($plain, $nonce, $key);
        sodium_memzero($plain);
        return base64_encode($nonce . $sealed);
    }

    /** Decrypt a secret; a wrong key or a changed text is an exception. */
    public static function decrypt(string $sealed, string $key): string
    {
        $bytes = base64_decode($sealed, true);
        $nonce = substr($bytes, 0, SODIUM_CRYPTO_SECRETBOX_NONCEBYTES);
        $plain = sodium_crypto_secretbox_open(substr($bytes, strlen($nonce)), $nonce, $key);
        if ($plain === false) {
            throw new \RuntimeException('cannot decrypt');
        }
        return $plain;
    }

    /** Allow a user to do something. */
    public function grant(string $user, string $permission): void
    {
        $this->permissions[$user] ??= [];
        if (!in_array($permission, $this->permissions[$user], true)) {
            $this->permissions[$user][] = $permission;
        }
    }

    /** Take a permission away from a user. */
    public function revoke(string $user, string $permission): void
    {
        $left = array_diff($this->permissions[$user] ?? [], [$permission]);
        if ($left) {
            $this->permissions[$user] = array_values($left);
        } else {
            unset($this->permissions[$user]);
        }
    }

    /** May the user do this? */
    public function isAllowed(string $user, string $permission): bool
    {
        $granted = $this->permissions[$user] ?? [];
        return in_array('*', $granted, true)
            || in_array($permission, $granted, true);
    }

    /** Start a session for a user whose password is right. */
    public function login(\PDO $db, string $name, string $password): bool
    {
        $query = $db->prepare('SELECT id, hash FROM users WHERE name = ?');
        $query->execute([$name]);
        $user = $query->fetch();
        if (!$user || !password_verify($password, $user['hash'])) {
            return false;
        }
        session_regenerate_id(true);
        $_SESSION['user'] = $user['id'];
        return true;
    }

    /** End the session of the user. */
    public function logout(): void
    {
        $_SESSION = [];
        $cookie = session_get_cookie_params();
        setcookie(session_name(), '', time() - 3600, $cookie['path']);
        session_destroy();
    }

    public function csrfToken(): string
    {
        if (empty($_SESSION['csrf'])) {
            $_SESSION['csrf'] = bin2hex(random_bytes(32));
        }
        return $_SESSION['csrf'];
    }

    public function checkCsrf(string $token): void
    {
        if (!hash_equals($_SESSION['csrf'] ?? '', $token)) {
            http_response_code(403);
            throw new \RuntimeException('the form has expired');
        }
    }

    /** Verify the signature of a webhook. */
    public static function verifySignature(string $body, string $header, string $secret): bool
    {
        [$algorithm, $given] = explode('=', $header, 2) + [1 => ''];
        $expected = hash_hmac($algorithm, $body, $secret);
        return hash_equals($expected, $given);
    }
}
