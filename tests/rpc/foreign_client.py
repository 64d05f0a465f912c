#!/usr/bin/python3
"""A client that knows nothing of penstock: it learns services and messages by server reflection.

usage: foreign_client.py FAKE_DAEMON
"""

import pathlib
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

REFLECTION = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


def _field(message, name, number, kind, label=1, type_name=None):
    message.field.add(name=name, number=number, type=kind, label=label, type_name=type_name)


def reflection_messages():
    """The reflection protocol itself, as far as used here, which every gRPC client brings."""
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="r.proto", package="r", syntax="proto3")
    request = file.message_type.add(name="Request")
    _field(request, "file_containing_symbol", 4, kinds.TYPE_STRING)
    _field(request, "list_services", 7, kinds.TYPE_STRING)
    files = file.message_type.add(name="Files")
    _field(files, "file_descriptor_proto", 1, kinds.TYPE_BYTES, 3)
    service = file.message_type.add(name="Service")
    _field(service, "name", 1, kinds.TYPE_STRING)
    services = file.message_type.add(name="Services")
    _field(services, "service", 1, kinds.TYPE_MESSAGE, 3, ".r.Service")
    response = file.message_type.add(name="Response")
    _field(response, "file_descriptor_response", 4, kinds.TYPE_MESSAGE, 1, ".r.Files")
    _field(response, "list_services_response", 6, kinds.TYPE_MESSAGE, 1, ".r.Services")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return [factory.GetPrototype(pool.FindMessageTypeByName("r." + name))
            for name in ("Request", "Response")]


class Foreigner:
    def __init__(self, target):
        self._channel = grpc.insecure_channel(target)
        self._request, response = reflection_messages()
        self._reflect = self._channel.stream_stream(
            REFLECTION, request_serializer=self._request.SerializeToString,
            response_deserializer=response.FromString)
        self._pool = descriptor_pool.DescriptorPool()
        self._factory = message_factory.MessageFactory(self._pool)

    def services(self):
        answer = next(self._reflect(iter([self._request(list_services="*")])))
        return {one.name for one in answer.list_services_response.service}

    def learn(self, service):
        """Adds the file of a service, and all that it imports."""
        answer = next(self._reflect(iter([self._request(file_containing_symbol=service)])))
        files = {}
        for data in answer.file_descriptor_response.file_descriptor_proto:
            file = descriptor_pb2.FileDescriptorProto.FromString(data)
            files[file.name] = file
        self._add(files, next(iter(files)))
        for name in list(files):
            self._add(files, name)

    def _add(self, files, name):
        file = files.pop(name, None)
        if file is None:
            return
        for needed in file.dependency:
            self._add(files, needed)
        self._pool.Add(file)

    def call(self, service, method, **fields):
        descriptor = self._pool.FindServiceByName(service).FindMethodByName(method)
        request = self._factory.GetPrototype(descriptor.input_type)(**fields)
        response = self._factory.GetPrototype(descriptor.output_type)
        return self._channel.unary_unary(
            f"/{service}/{method}", request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response.FromString)(request, timeout=10)

    def state_name(self, number):
        return self._pool.FindEnumTypeByName("penstock.v1.AdminState").values_by_number[number].name


def check(client):
    offered = client.services()
    for name in ("Config", "Pool", "Status"):
        assert f"penstock.v1.{name}Service" in offered, offered
        client.learn(f"penstock.v1.{name}Service")
    assert "grpc.health.v1.Health" in offered, offered
    backends = [{"address": f"10.1.0.{11 + i}", "name": f"web{1 + i}"} for i in range(3)]
    client.call("penstock.v1.ConfigService", "ApplyConfig",
                config={"hash": {"seed": "s"}, "pools": [{"name": "web", "backends": backends}]})
    status = "penstock.v1.StatusService"
    listed = client.call(status, "ListBackends").backends
    assert [one.address for one in listed] == [one["address"] for one in backends], listed
    client.call("penstock.v1.PoolService", "DrainBackend", pool="web", backends=["web2"])
    states = [client.state_name(one.admin_state)
              for one in client.call(status, "ListBackends", pool="web").backends]
    assert states == ["ADMIN_STATE_ACTIVE", "ADMIN_STATE_DRAINING", "ADMIN_STATE_ACTIVE"], states
    try:
        client.call(status, "ListBackends", pool="nosuch")
    except grpc.RpcError as error:
        assert error.code() == grpc.StatusCode.NOT_FOUND, error
    else:
        raise AssertionError("an unknown pool was listed")


def main():
    with tempfile.TemporaryDirectory() as directory:
        socket = pathlib.Path(directory) / "d.sock"
        with subprocess.Popen([sys.argv[1], socket], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True) as daemon:
            assert daemon.stdout.readline() == "ready\n"
            try:
                check(Foreigner(f"unix:{socket}"))
            finally:
                daemon.stdin.close()


if __name__ == "__main__":
    main()
