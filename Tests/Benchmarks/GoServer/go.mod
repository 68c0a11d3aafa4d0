module freshet/benchmarks/goserver

go 1.19
