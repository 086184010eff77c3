<?php

namespace Demo;

use PHPUnit\Framework\TestCase;

class FormatTest extends TestCase
{
    public function testXmlSurvivesBothWays(): void
    {
        $data = ['name' => 'Ada', 'tags' => ['first' => 'a']];
        $xml = Format::arrayToXml($data);
        $this->assertStringContainsString('<name>Ada</name>', $xml);
        $this->assertSame($data, Format::xmlToArray($xml));
    }

    public function testStringToIntRejectsText(): void
    {
        $this->assertNull(Format::stringToInt('twelve'));
        $this->assertSame(12, Format::stringToInt(' 12 '));
        $this->assertSame(-3, Format::stringToInt('-3'));
    }

    /** A database in memory with one table. */
    protected function memoryDatabase(): \PDO
    {
        $pdo = new \PDO('sqlite::memory:');
        $pdo->exec('CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT, hash TEXT)');
        return $pdo;
    }
}
