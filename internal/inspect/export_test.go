package inspect

// WriteFile is what [Inspect] writes definitions with.
var WriteFile = writeFile
