"""What a route may ask for."""

from typing import Annotated

from fastapi import Depends, Request

from app.serving.service import Service


def _service(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


Parts = Annotated[Service, Depends(_service)]
