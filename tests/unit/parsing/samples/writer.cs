public ref partial struct Writer<T>
{
    public void Write(byte x) { }
}
