<?php

namespace Demo;

use PDO;
use PDOException;

class Database
{
    private ?PDO $pdo = null;

    public function __construct(private string $dsn, private string $user, private string $password)
    {
        if (!str_contains($dsn, ':')) {
            throw new \InvalidArgumentException("bad DSN: {$dsn}");
        }
    }

    /** Open the connection when it is first needed. */
    public function connect(): PDO
    {
        if ($this->pdo === null) {
            $this->pdo = new PDO($this->dsn, $this->user, $this->password);
            $this->pdo->setAttribute(PDO::ATTR_ERRMODE, PDO::ERRMODE_EXCEPTION);
        }
        return $this->pdo;
    }

    /** Close the connection; unfinished work is rolled back. */
    public function disconnect(): void
    {
        if ($this->pdo?->inTransaction()) {
            $this->pdo->rollBack();
        }
        $this->pdo = null;
    }

    /** Insert a row and return its id. */
    public function insert(string $table, array $row): int
    {
        $columns = implode(', ', array_keys($row));
        $marks = implode(', ', array_fill(0, count($row), '?'));
        $statement = $this->connect()->prepare("INSERT INTO {$table} ({$columns}) VALUES ({$marks})");
        $statement->execute(array_values($row));
        return (int) $this->connect()->lastInsertId();
    }

    /** Delete the row with an id and say whether there was one. */
    public function delete(string $table, int $id): bool
    {
        $statement = $this->connect()->prepare("DELETE FROM {$table} WHERE id = :id");
        $statement->bindValue(':id', $id, PDO::PARAM_INT);
        $statement->execute();
        return $statement->rowCount() === 1;
    }

    public function update(string $table, int $id, array $changes): void
    {
        $pairs = [];
        foreach (array_keys($changes) as $column) {
            $pairs[] = "{$column} = :{$column}";
        }
        $sql = sprintf('UPDATE %s SET %s WHERE id = :id', $table, implode(', ', $pairs));
        $this->connect()->prepare($sql)->execute($changes + ['id' => $id]);
    }

    /** Begin a transaction, or a savepoint inside one. */
    public function begin(): void
    {
        $pdo = $this->connect();
        if ($pdo->inTransaction()) {
            $pdo->exec('SAVEPOINT nested');
            return;
        }
        $pdo->beginTransaction();
    }

    /** Make the changes of the transaction permanent. */
    public function commit(): void
    {
        if (!$this->connect()->inTransaction()) {
            throw new PDOException('nothing to commit');
        }
        $this->connect()->commit();
    }

    /** Throw the changes of the transaction away. */
    public function rollback(): void
    {
        $pdo = $this->connect();
        if ($pdo->inTransaction()) {
            $pdo->rollBack();
        }
    }

    /** One page of a table and the number of pages. */
    public function paginate(string $table, int $page, int $perPage = 20): array
    {
        $total = (int) $this->connect()->query("SELECT COUNT(*) FROM {$table}")->fetchColumn();
        $offset = max(0, $page - 1) * $perPage;
        $rows = $this->connect()->query("SELECT * FROM {$table} LIMIT {$perPage} OFFSET {$offset}");
        return ['rows' => $rows->fetchAll(PDO::FETCH_ASSOC), 'pages' => (int) ceil($total / $perPage)];
    }
}
