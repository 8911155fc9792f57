module golden

go 1.24
