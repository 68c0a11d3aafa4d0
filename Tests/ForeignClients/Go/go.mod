module freshet/clients/gosender

go 1.19
